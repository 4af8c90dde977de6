import type { AttemptDependencies } from '../../../src/calls/attempt-call.ts';
import { CallStreaks } from '../../../src/calls/batches/call-streaks.ts';
import { openAdmissions } from '../../../src/ledger/admit.ts';
import { CallQueue } from '../../../src/ledger/call-queue.ts';
import type { BulkAnswer, BulkRequest } from '../../../src/service/client.ts';
import type { Logger } from '../../../src/telemetry/log.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';

/** Returns a function that makes what a worker needs for calls to a service that answers as given. */
export function batchDependencies(
  warehouse: TestWarehouse,
): (answer: (request: BulkRequest) => Promise<Partial<BulkAnswer>>) => AttemptDependencies {
  const limits = { service: 'test', rateLimits: [], budgets: {} };
  const log = { debug: () => {}, warn: () => {}, error: () => {} } as unknown as Logger;
  return (answer) =>
    ({
      warehouse,
      queue: new CallQueue({
        concurrency: 1,
        freeSlots: () => Promise.resolve({ slots: 1, wait: undefined }),
        patienceMilliseconds: 1_000,
      }),
      limits,
      admit: openAdmissions(warehouse.database, limits),
      patienceMilliseconds: 20,
      pollAfterSeconds: 900,
      client: { bulkMatch: answer },
      streaks: new CallStreaks(),
      log,
      webhookUrl: (token: string) => token,
      callTimeoutSeconds: 5,
      onBudgetAlarm: () => {},
    }) as unknown as AttemptDependencies;
}
