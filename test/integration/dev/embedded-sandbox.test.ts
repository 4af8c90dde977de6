import { expect, it } from 'vitest';
import { startEmbeddedSandbox } from '../../../src/dev/sandbox.ts';
import { runningRecord } from '../../../src/dev/server.ts';
import { serviceOperations } from '../../../src/service/client.ts';
import { createCredentialSource } from '../../../src/service/credential.ts';
import { serverFolder } from '../../helpers/servers/server-folder.ts';

type Sandbox = Awaited<ReturnType<typeof startEmbeddedSandbox>>;

async function matchOne({ baseUrl, credential }: Sandbox) {
  return fetch(`${baseUrl}/people/bulk_match`, {
    method: 'POST',
    headers: {
      ...(await createCredentialSource(credential)(serviceOperations.match)),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ details: [{ first_name: 'Ada', last_name: 'Vance', domain: 'example.com' }] }),
  });
}

async function bill({ baseUrl }: Sandbox): Promise<unknown> {
  return (await fetch(new URL('/sandbox/bill', baseUrl))).json();
}

it('the embedded sandbox keeps its port and its bill after a kill', async () => {
  const directory = serverFolder();
  const start = () => startEmbeddedSandbox({ directory, port: 0, rateLimits: '600/hour' });
  const first = await start();
  await matchOne(first);
  const billed = await bill(first);
  expect(await start()).toEqual(first);
  process.kill(runningRecord(directory)!.pid, 'SIGKILL');
  await expect.poll(() => runningRecord(directory)).toBeUndefined();
  const second = await start();
  expect(second).toEqual(first);
  expect(await bill(second)).toEqual(billed);
});
