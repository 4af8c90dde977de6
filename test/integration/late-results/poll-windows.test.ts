import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { pollWithinLimits } from '../../../src/late-results/sync-late-results.ts';
import { bulkMatchScope, freeSlots, slackSeconds } from '../../../src/ledger/rate-windows.ts';
import { defaultApiKey } from '../../../src/sandbox/credentials.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { createServiceClient, type ServiceClient } from '../../../src/service/client.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const warehouse = await warehouseOfFile({ connections: 2 });

const sandbox = await startSandbox({ rateLimits: '10/hour' });
const client = createServiceClient({
  baseUrl: sandbox.baseUrl,
  credential: { kind: 'api-key', value: defaultApiKey },
  callTimeoutSeconds: 5,
  pollPath: '/webhook_result/{request_id}',
});

afterAll(async () => {
  await client.close();
  await sandbox.close();
});

afterEach(async () => {
  sandbox.faults.set({});
  await warehouse.query`delete from rate_calls; delete from rate_scopes; delete from rate_reports`;
});

/** Our own setting is no limit: what holds a poll back is what the service said. */
async function poll(): Promise<string> {
  const dependencies = { warehouse, service: 'test', client, rateLimits: [], callTimeoutSeconds: 5 };
  const polled = await pollWithinLimits(dependencies, '77', AbortSignal.timeout(120_000));
  return polled.kind === 'full' ? polled.reason : polled.answer.state;
}

describe('the windows of polls', () => {
  it('polls use their window up to the last call that the service reports, and none is refused', async () => {
    sandbox.faults.set({ rules: [{ path: '/webhook_result', used_by_others: 7 }] });
    expect([await poll(), await poll(), await poll()]).toEqual(['gone', 'gone', 'gone']);
    expect(await poll()).toContain('no calls left in its window of 1h');
    expect(sandbox.log.bill()).toMatchObject({ calls: 3, refused: 0 });
  });

  it('a poll that begins some seconds after its slot was acquired ends before the deadline of the slot', async () => {
    let seconds = 0;
    const slow: ServiceClient = {
      ...client,
      poll: async (requestId, signal) => {
        const rows = await warehouse.query<{ seconds: number }>`
          select extract(epoch from counted_until - started_at)::float8 as seconds from rate_calls`;
        seconds = rows[0]!.seconds;
        return client.poll(requestId, signal);
      },
    };
    const dependencies = { warehouse, service: 'test', client: slow, rateLimits: [], callTimeoutSeconds: 5 };
    await pollWithinLimits(dependencies, '77', AbortSignal.timeout(120_000));
    expect(seconds).toBeCloseTo(5 + slackSeconds, 1);
  });

  it('polls have rate windows apart from those of paid calls', async () => {
    sandbox.faults.set({ rules: [{ path: '/webhook_result', status: 429, retry_after: '30' }] });
    await expect(poll()).rejects.toMatchObject({ type: 'rate-limited' });
    expect(await poll()).toContain('429');
    expect((await freeSlots(warehouse.database, { service: 'test', scope: bulkMatchScope }, [])).slots).toBe(
      Number.POSITIVE_INFINITY,
    );
  });
});

it('a poll whose access token is renewed uses a slot for each of its two requests', async () => {
  const server = await startSandbox({ rateLimits: 'unlimited' });
  const issued = await (await fetch(`${server.controlUrl}/token`, { method: 'POST' })).text();
  const renewed = { authorization: `Bearer ${issued.trim()}` };
  let token = { authorization: 'Bearer old' };
  const settings = { baseUrl: server.baseUrl, credential: undefined, callTimeoutSeconds: 5 };
  const renewing = createServiceClient(
    { ...settings, pollPath: '/webhook_result/{request_id}' },
    undefined,
    (refused) => Promise.resolve(refused ? (token = renewed) : token),
  );
  const dependencies = { warehouse, service: 'test', client: renewing, callTimeoutSeconds: 5 };
  const polled = await pollWithinLimits(
    { ...dependencies, rateLimits: [{ calls: 1, seconds: 3_600 }] },
    '77',
    AbortSignal.timeout(120_000),
  );
  expect(polled).toMatchObject({ kind: 'full', reason: expect.stringContaining('1/hour') });
  expect(
    await pollWithinLimits({ ...dependencies, rateLimits: [] }, '77', AbortSignal.timeout(120_000)),
  ).toMatchObject({
    kind: 'answered',
  });
  expect(await warehouse.query`select call_id from rate_calls`).toHaveLength(2);
  await renewing.close();
  await server.close();
});
