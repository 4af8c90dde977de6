import { afterEach, describe, expect, it } from 'vitest';
import {
  startSandbox,
  type RunningSandbox,
  type SandboxOptions,
} from '../../../src/sandbox/server/server.ts';

const before = Date.UTC(2026, 10, 21);
const after = Date.UTC(2027, 1, 16);
let clock = before;
let sandbox: RunningSandbox | undefined;

afterEach(async () => {
  await sandbox?.close();
  clock = before;
});

async function start(options: SandboxOptions = {}): Promise<void> {
  sandbox = await startSandbox({ people: 100, now: () => clock, ...options });
}

type Credential = { readonly 'x-api-key': string } | { readonly authorization: string };

const bearer = (token: string): Credential => ({ authorization: `Bearer ${token}` });

async function get(path: string, credential?: Credential, method = 'GET'): Promise<Response> {
  return fetch(`${sandbox!.baseUrl}${path}`, { method, headers: { ...credential } });
}

it('an API key of the sandbox acts as the earliest-created admin who is not deleted', async () => {
  await start({
    team: [
      user('newer', { created_at: '2024-01-01T00:00:00Z' }),
      user('deleted', { created_at: '2018-01-01T00:00:00Z', deleted: true }),
      user('member', { created_at: '2019-01-01T00:00:00Z', is_admin: false }),
      user('acting', { created_at: '2020-01-01T00:00:00Z' }),
    ],
  });
  const profile = await get('/users/api_profile', { 'x-api-key': 'sandbox-key' });
  expect(await profile.json()).toMatchObject({ id: 'acting' });
});

it('an API key with scopes may call only these paths, health and profile', async () => {
  await start({ apiKeys: [{ key: 'narrow', scopes: ['/people/match'] }] });
  const key = { 'x-api-key': 'narrow' };
  const statuses = await Promise.all([
    get('/people/match?id=nobody', key, 'POST').then((answer) => answer.status),
    get('/auth/health', key).then((answer) => answer.status),
    get('/users/api_profile', key).then((answer) => answer.status),
    get('/people/bulk_match', key, 'POST').then((answer) => answer.status),
    get('/usage_stats/api_usage_stats', key, 'POST').then((answer) => answer.status),
    get('/users/search', key).then((answer) => answer.status),
  ]);
  expect(statuses).toEqual([200, 200, 200, 403, 403, 403]);
});

it('an API key may see usage by its scope, and the list of users only as a master key', async () => {
  const scopes = ['/usage_stats/api_usage_stats', '/users/search'];
  await start({ apiKeys: ['master', { key: 'narrow', scopes }] });
  expect((await get('/usage_stats/api_usage_stats', { 'x-api-key': 'narrow' }, 'POST')).status).toBe(200);
  expect((await get('/users/search', { 'x-api-key': 'narrow' })).status).toBe(403);
  expect((await get('/users/search', { 'x-api-key': 'master' })).status).toBe(200);
});

it('an API key is refused as a bearer token', async () => {
  await start();
  const answer = await get('/auth/health', bearer('sandbox-key'));
  expect(answer.status).toBe(401);
  expect(await answer.json()).toMatchObject({ error_code: 'INVALID_ACCESS_TOKEN' });
});

describe('an access token', () => {
  it('an access token of the sandbox acts as the user who granted it', async () => {
    await start({ accessTokens: ['other'] });
    expect(await (await get('/users/api_profile', bearer('other'))).json()).toMatchObject({
      first_name: 'Greta',
      is_admin: false,
    });
  });

  it('an access token of the sandbox expires after its calls, and after its seconds', async () => {
    await start({
      accessTokens: [
        { token: 'two-calls', calls: 2 },
        { token: 'ten-seconds', seconds: 10 },
      ],
    });
    const statuses: number[] = [];
    for (let call = 0; call < 3; call += 1)
      statuses.push((await get('/auth/health', bearer('two-calls'))).status);
    expect(statuses).toEqual([200, 200, 401]);
    expect((await get('/auth/health', bearer('ten-seconds'))).status).toBe(200);
    clock += 10_000;
    expect((await get('/auth/health', bearer('ten-seconds'))).status).toBe(401);
  });

  it('the sandbox issues new access tokens in the form of a JWT', async () => {
    await start({ issuedTokens: { calls: 1 } });
    const token = (await (await fetch(`${sandbox!.controlUrl}/token`, { method: 'POST' })).text()).trim();
    expect(token).toMatch(/^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/);
    expect((await get('/auth/health', bearer(token))).status).toBe(200);
    expect((await get('/auth/health', bearer(token))).status).toBe(401);
  });
});

describe('a refusal', () => {
  it('a refused key at people/match gets plain text before the cut-over, and error_details after it', async () => {
    await start();
    const old = await get('/people/match', { 'x-api-key': 'wrong' }, 'POST');
    expect(old.headers.get('content-type')).toContain('text/plain');
    clock = after;
    const migrated = await get('/people/match', { 'x-api-key': 'wrong' }, 'POST');
    expect(Object.keys((await migrated.json()) as object)).toEqual(['error_details']);
  });

  it('a refused bearer token at people/match gets plain text before the cut-over too', async () => {
    await start();
    const old = await get('/people/match', bearer('wrong'), 'POST');
    expect(old.status).toBe(401);
    expect(old.headers.get('content-type')).toContain('text/plain');
  });

  it('a refusal by the plan has both shapes before the cut-over, and only error_details after it', async () => {
    await start({ apiKeys: [{ key: 'narrow', scopes: [] }] });
    const refused = async () =>
      (await (await get('/people/bulk_match', { 'x-api-key': 'narrow' }, 'POST')).json()) as object;
    const members = ['error', 'error_code', 'message', 'error_details'];
    expect(Object.keys(await refused())).toEqual(members);
    expect(await refused()).toMatchObject({ error_code: 'API_INACCESSIBLE' });
    clock = after;
    expect(Object.keys(await refused())).toEqual(['error_details']);
  });

  it('a refused credential gets no rate headers, is not in the log, and is counted', async () => {
    await start();
    const { headers } = await get('/people/bulk_match', undefined, 'POST');
    expect([...headers.keys()].filter((name) => name.startsWith('x-'))).toEqual([]);
    expect(sandbox!.log.calls()).toEqual([]);
    expect(sandbox!.log.bill().otherCalls).toEqual({ '401 /people/bulk_match': 1 });
  });
});

function user(id: string, facts: { created_at: string; deleted?: boolean; is_admin?: boolean }) {
  return { id, first_name: id, last_name: '', email: '', deleted: false, is_admin: true, ...facts };
}
