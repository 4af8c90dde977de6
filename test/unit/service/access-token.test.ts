import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Credential } from '../../../src/config/settings.ts';
import { type ServiceClient } from '../../../src/service/client.ts';
import { ServiceFailure } from '../../../src/service/failures/failure.ts';
import type { HttpRequest, Transport } from '../../../src/service/transport.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';
import { testClient, readAnswer } from '../../helpers/servers/test-client.ts';

const directory = temporaryFolder();
const file = join(directory, 'token');
const readings = join(directory, 'readings');
const details = [{ email: 'mira@lindqvist.example' }];
const invalidToken = { error: 'words', error_code: 'INVALID_ACCESS_TOKEN' };

beforeEach(() => {
  writeFileSync(file, 'token-1\n');
  writeFileSync(readings, '');
});

/** A command that prints the token file, and adds a line to `readings` each time. */
const command = `echo >>'${readings}'; cat '${file}'`;
const timesRead = (): number => readFileSync(readings, 'utf8').length;

/** A service that accepts only the token `valid`. @param renewed the token that its file has after a refusal */
function accepting(valid: string, refusal: unknown = invalidToken, renewed = (_calls: number) => valid) {
  const sent: HttpRequest[] = [];
  const transport: Transport = {
    send: (request) => {
      sent.push(request);
      const works = request.headers['authorization'] === `Bearer ${valid}`;
      if (!works) writeFileSync(file, renewed(sent.length));
      return Promise.resolve(works ? readAnswer({ matches: [null] }) : readAnswer(refusal, 401));
    },
    close: () => Promise.resolve(),
  };
  return { sent, transport };
}

const tokensOf = (sent: readonly HttpRequest[]) =>
  sent.map((request) => request.headers['authorization']?.replace('Bearer ', ''));

/** Calls the service as the pipeline does: after a renewed token, the call is repeated in a new slot. */
async function ask(client: ServiceClient): Promise<unknown> {
  try {
    return await client.bulkMatch({ details });
  } catch (error) {
    if (!(error instanceof ServiceFailure) || error.type !== 'token-renewed') throw error;
    return client.bulkMatch({ details });
  }
}

describe.each<[string, Credential]>([
  ['a file', { kind: 'access-token', file }],
  ['a command', { kind: 'access-token', command }],
])('an access token from %s', (_, credential) => {
  it('the access token is sent as a bearer token, without the newline of its file', async () => {
    const { sent, transport } = accepting('token-1');
    await ask(testClient({ transport, credential }));
    expect(tokensOf(sent)).toEqual(['token-1']);
  });

  it.each([
    ['INVALID_ACCESS_TOKEN at the root', invalidToken],
    [
      'INVALID_ACCESS_TOKEN as the last segment in error_details',
      { error_details: { code: 'AUTH.AUTHENTICATION.INVALID_ACCESS_TOKEN' } },
    ],
    [
      'INVALID_ACCESS_TOKEN at the root and another code in error_details',
      { ...invalidToken, error_details: { code: 'AUTH.TOKEN.EXPIRED' } },
    ],
    ['plain text without a code', 'Invalid access credentials.'],
  ])(
    'the access token is read again after a refusal with %s, and the same call is repeated',
    async (_name, refusal) => {
      const { sent, transport } = accepting('token-2', refusal);
      await ask(testClient({ transport, credential }));
      expect(tokensOf(sent)).toEqual(['token-1', 'token-2']);
      expect(sent[1]).toMatchObject({ method: sent[0]?.method, url: sent[0]?.url, body: sent[0]?.body });
    },
  );

  it('a renewed access token is not used within the same call, because a second request needs a new slot', async () => {
    const { sent, transport } = accepting('token-2');
    await expect(testClient({ transport, credential }).bulkMatch({ details })).rejects.toMatchObject({
      type: 'token-renewed',
      disposition: 'retry',
      mayHaveBeenBilled: false,
      httpStatus: 401,
    });
    expect(tokensOf(sent)).toEqual(['token-1']);
  });

  it('a second refusal of the access token pauses the run', async () => {
    const { sent, transport } = accepting('none', invalidToken, (calls) => `token-${calls + 1}`);
    const refused = ask(testClient({ transport, credential }));
    await expect(refused).rejects.toMatchObject({ type: 'unauthorized', disposition: 'pause' });
    expect(tokensOf(sent)).toEqual(['token-1', 'token-2']);
  });

  it('the access token is not read again after a refusal for another reason', async () => {
    const { sent, transport } = accepting('token-2', { error_code: 'ACCOUNT_INACTIVE' });
    await expect(ask(testClient({ transport, credential }))).rejects.toMatchObject({
      type: 'unauthorized',
    });
    expect(sent).toHaveLength(1);
  });
});

it('the access token is read once for several calls that were refused at the same time', async () => {
  const { sent, transport } = accepting('token-2');
  const client = testClient({ transport, credential: { kind: 'access-token', command } });
  await Promise.all(Array.from({ length: 8 }, () => ask(client)));
  expect(timesRead()).toBe(2);
  expect(tokensOf(sent).toSorted()).toEqual([...Array(8).fill('token-1'), ...Array(8).fill('token-2')]);
});

it.each<[string, Credential, string]>([
  ['no file', { kind: 'access-token', file: join(directory, 'absent') }, 'ENOENT'],
  ['a file without a token', { kind: 'access-token', file: '/dev/null' }, 'NO_TOKEN'],
  ['a command that fails', { kind: 'access-token', command: 'echo canary; exit 3' }, 'EXIT_3'],
  ['a command that prints a sentence', { kind: 'access-token', command: 'echo a canary' }, 'NO_TOKEN'],
  ['a command that prints without end', { kind: 'access-token', command: 'yes canary' }, 'ERR_CHILD_PROCESS'],
])(
  'an unreadable access token, %s: no call is sent, a retry is possible, and no error quotes the token',
  async (_, credential, code) => {
    const { sent, transport } = accepting('token-1');
    const failure: unknown = await testClient({ transport, credential })
      .bulkMatch({ details })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      type: 'not-sent.no-token',
      disposition: 'retry',
      mayHaveBeenBilled: false,
      codes: [expect.stringContaining(code)],
    });
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain('canary');
    expect(sent).toEqual([]);
  },
);
