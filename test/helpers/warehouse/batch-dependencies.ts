import { CallStreaks, type AttemptDependencies } from '../../../src/calls/attempt-call.ts';
import { createAdmission, type AdmissionLimits } from '../../../src/ledger/admit.ts';
import { CallQueue } from '../../../src/ledger/call-queue.ts';
import type { BulkAnswer, BulkRequest } from '../../../src/service/client.ts';
import type { Logger } from '../../../src/telemetry/log.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';

type FreeSlots = Awaited<ReturnType<ConstructorParameters<typeof CallQueue>[0]['freeSlots']>>;

/** Returns a queue of so many calls at once. @param free the rate slots that it finds; default: enough */
export function queueOf(
  concurrency: number,
  free: FreeSlots = { slots: concurrency, wait: undefined },
): CallQueue {
  return new CallQueue({ concurrency, freeSlots: () => Promise.resolve(free), patienceMilliseconds: 1_000 });
}

/** Returns what a worker needs for calls to a service that answers as given. */
export function batchDependencies(
  warehouse: TestWarehouse,
  limits: AdmissionLimits,
  answer?: (request: BulkRequest) => Promise<Partial<BulkAnswer>>,
): AttemptDependencies {
  return {
    warehouse,
    queue: queueOf(1),
    limits,
    admit: createAdmission(warehouse.database, limits),
    patienceMilliseconds: 20,
    pollAfterSeconds: 900,
    client: { bulkMatch: answer },
    streaks: new CallStreaks(),
    log: { debug: () => {}, warn: () => {}, error: () => {} } as unknown as Logger,
    webhookUrl: (token: string) => token,
    callTimeoutSeconds: 5,
    onBudgetAlarm: () => {},
  } as unknown as AttemptDependencies;
}
