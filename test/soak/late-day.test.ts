import { afterAll, beforeAll, expect, it } from 'vitest';
import { syncRunResults } from '../../src/late-results/drain-deliveries.ts';
import type { ServiceClient } from '../../src/service/client.ts';
import { openTestWarehouse, type TestWarehouse } from '../helpers/database.ts';
import { backlogOfPolls } from '../helpers/late-calls.ts';

/**
 * How often a run with 1,000 calls syncs in a day in which the service has no result yet, under 60 polls an hour:
 * `npm run soak:late-day`. The database's clock is put forward by each pause that the workflow would make.
 */
let warehouse: TestWarehouse;

beforeAll(async () => {
  warehouse = await openTestWarehouse();
});

afterAll(() => warehouse.drop());

const pollAfterSeconds = 900;
const daySeconds = 86_400;

it(
  '1,000 calls under 60 polls an hour are polled all day, in less than a sync a minute',
  { timeout: 600_000 },
  async () => {
    let polls = 0;
    const client = {
      poll: async () => {
        polls += 1;
        return { state: 'pending', retryAfterSeconds: undefined, rateLimits: [] };
      },
    } as unknown as ServiceClient;
    const { runId } = await backlogOfPolls(warehouse, 1_000);
    // Unqualified names are looked for in our schema before those of PostgreSQL.
    await warehouse.pool.query(`
    update attempts set awaited_until = clock_timestamp() + interval '2 days';
    create table enrichment.simulated_clock (ahead interval not null);
    insert into enrichment.simulated_clock values ('0');
    create function enrichment.clock_timestamp() returns timestamptz volatile language sql as
      'select pg_catalog.clock_timestamp() + ahead from enrichment.simulated_clock';
  `);
    const settings = {
      warehouse,
      service: 'test',
      client,
      rateLimits: [{ calls: 60, seconds: 3_600 }],
      callTimeoutSeconds: 5,
      pollAfterSeconds,
    };
    let syncs = 0;
    let begun: number | undefined;
    for (;;) {
      const status = await syncRunResults(settings, runId, AbortSignal.timeout(60_000));
      const now = Date.parse(status.readAt);
      begun ??= now;
      if (now - begun > daySeconds * 1_000) break;
      syncs += 1;
      // As the workflow does: no earlier than after a second, and no later than four times the pause before the first poll.
      const due = (Date.parse(status.nextSyncAt!) - now) / 1_000;
      await warehouse.pool.query(
        'update enrichment.simulated_clock set ahead = ahead + make_interval(secs => $1)',
        [Math.max(1, Math.min(due, 4 * pollAfterSeconds))],
      );
    }
    console.log(`in a simulated day: ${syncs} syncs, ${polls} polls`);
    expect(syncs).toBeLessThan(daySeconds / 60);
    expect(polls).toBeGreaterThan(0.95 * 60 * 24);
    expect(polls).toBeLessThanOrEqual(60 * 25);
  },
);
