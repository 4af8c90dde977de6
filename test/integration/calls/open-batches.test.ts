import { expect, it } from 'vitest';
import type { AttemptDependencies } from '../../../src/calls/attempt-call.ts';
import { openBatches } from '../../../src/calls/batches/enrich-batch.ts';
import { bulkMatchScope, countFreeSlots } from '../../../src/ledger/rate-windows.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { adoptService } from '../../../src/runs/planning/plan-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { testLookupRequest, stagedRun, testSpec } from '../../helpers/warehouse/rows.ts';
import { admit } from '../../helpers/warehouse/admit.ts';
import { runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile();

const rateLimits = [{ calls: 1, seconds: 60 }];
const limits = { service: 'test', rateLimits, budgets: {} };
const dependencies = (): AttemptDependencies =>
  ({ warehouse, limits, log: { warn() {} } }) as unknown as AttemptDependencies;
const deadlineSeconds = 45;

/** Milliseconds until a rate slot is free; 0 if one is free now. */
async function millisecondsToSlot(): Promise<number> {
  const bulkMatch = { service: 'test', scope: bulkMatchScope };
  const { wait } = await countFreeSlots(warehouse.database, bulkMatch, rateLimits);
  return wait?.milliseconds ?? 0;
}

it('an abandoned call keeps its rate slot until its deadline plus one rate window', async () => {
  const runId = await runningRunOf(warehouse, [{ email: 'a@orbit.example', contactId: 'a' }]);
  await admit(warehouse.database, { runId, rowNumbers: [1], deadlineSeconds }, limits);
  await openBatches(dependencies(), runId, [1]);

  const rows = await warehouse.query`select status from attempts where run_id = ${runId}`;
  expect(rows).toEqual([{ status: 'unknown' }]);
  // The worker that made the call may only have lost Temporal: its request can reach the service up to the deadline.
  // So the rate window of the call begins at the deadline.
  expect(await millisecondsToSlot()).toBeGreaterThan(59_000);
  await warehouse.query`
    update rate_calls set counted_until = counted_until - make_interval(secs => ${deadlineSeconds - 1})`;
  expect(await millisecondsToSlot()).toBeGreaterThan(59_000);
});

it('a batch does not request phones for people who opted out of calls', async () => {
  const rows = [
    { email: 'b@orbit.example', contactId: 'b', optedOutOfCalls: true },
    { email: 'c@orbit.example', contactId: 'c' },
  ];
  const runId = await runningRunOf(warehouse, rows, { reveal: ['email', 'phone'] });
  const [first, second] = await openBatches(dependencies(), runId, [1, 2]);
  expect(first).toMatchObject({ people: [{ contactId: 'b' }], run: { options: { reveal: ['email'] } } });
  expect(second).toMatchObject({
    people: [{ contactId: 'c' }],
    run: { options: { reveal: ['email', 'phone'] } },
  });
});

it.each([
  ['command', 'sandbox', false],
  ['workers', 'test', true],
] as const)(
  'a run keeps the service of its command or of its first workers (service of the %s: "%s")',
  async (serviceOf, service, isOurs) => {
    const { runId } = await stagedRun(warehouse, [], testSpec({ service: 'sandbox', serviceOf }));
    await adoptService(warehouse, runId, 'test');
    await planRows(warehouse, runId, testLookupRequest);
    await adoptService(warehouse, runId, 'another');
    expect(await openBatches(dependencies(), runId, [1])).toMatchObject([
      { isOurs, run: { options: { service } } },
    ]);
  },
);
