import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { pollWithinLimits } from '../../../src/late-results/sync-late-results.ts';
import { defaultApiKey } from '../../../src/sandbox/server.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { createServiceClient } from '../../../src/service/client.ts';
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
});
