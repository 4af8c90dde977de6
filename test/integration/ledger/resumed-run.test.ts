import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PauseReason } from '../../../src/contract/pause-reasons.ts';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';
import { openAdmissions, type Admission } from '../../../src/ledger/admit.ts';
import { closeWithoutCost } from '../../../src/ledger/close-attempt.ts';
import { pauseCalls } from '../../../src/ledger/pause-calls.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { runningRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

const admit = openAdmissions(warehouse.database, { service: 'test', rateLimits: [], budgets: {} });

/** A run of four batches that was paused and resumed. */
async function resumedRun(...types: readonly PauseReason['type'][]): Promise<string> {
  const runId = await runningRun(warehouse);
  for (const type of types)
    await setRunStatus(warehouse, runId, 'paused', { type, reason: 'of the test', next: 'resume it' });
  await setRunStatus(warehouse, runId, 'running', undefined, { byPerson: true });
  return runId;
}

/** Asks for calls for these batches of ten at the same time. */
async function ask(runId: string, ...batches: readonly number[]): Promise<Admission[]> {
  return Promise.all(
    batches.map((batch) =>
      admit({
        attemptId: randomUUID(),
        runId,
        batch,
        priority: 'ad-hoc',
        rowNumbers: Array.from({ length: 10 }, (_, index) => batch * 10 + index - 9),
        creditsPerPerson: wholeCredits(1),
        deadlineSeconds: 30,
        lateResults: false,
      }),
    ),
  );
}

function admitted(admissions: readonly Admission[]): string[] {
  return admissions.flatMap((admission) => (admission.kind === 'admitted' ? [admission.attemptId] : []));
}

async function answer(attemptId: string): Promise<void> {
  await warehouse.query`
    update attempts set status = 'settled', credits_settled = 1, answered_at = clock_timestamp()
    where attempt_id = ${attemptId}`;
}

describe('admit() of a run that was resumed after a call had paused it', () => {
  it.each(['service.overbilled', 'service.unauthorized', 'service.refuses-everybody'] as const)(
    'admit() admits one call at a time after the pause %s, until one is answered',
    async (type) => {
      const runId = await resumedRun(type);
      const first = await ask(runId, 1, 2, 3);
      expect(admitted(first)).toHaveLength(1);
      expect(first.filter(({ kind }) => kind === 'wait')).toMatchObject([
        { reason: 'one call shows whether the cause of the pause is gone' },
        { reason: 'one call shows whether the cause of the pause is gone' },
      ]);
      expect(admitted(await ask(runId, 4))).toEqual([]);
      await answer(admitted(first)[0]!);
      expect(admitted(await ask(runId, 2, 3, 4))).toHaveLength(3);
    },
  );

  it('admit() admits the next single call after a call that was refused', async () => {
    const runId = await resumedRun('service.refuses-everybody');
    const [first] = admitted(await ask(runId, 1));
    await closeWithoutCost(warehouse, first!, { status: 'refused', reason: 'of the test' });
    await warehouse.query`
      update run_rows set outcome = 'rejected' where run_id = ${runId} and row_number = 1`;
    // The first call is asked for alone, the others together.
    expect(admitted(await ask(runId, 1, 2, 3))).toHaveLength(1);
  });

  it('admit() waits for calls that were sent before the pause, and their answers do not end the trial', async () => {
    const runId = await runningRun(warehouse);
    const [before] = admitted(await ask(runId, 1));
    const pauseReason = { type: 'service.overbilled', reason: 'of the test', next: 'resume it' };
    await setRunStatus(warehouse, runId, 'paused', pauseReason);
    await setRunStatus(warehouse, runId, 'running', undefined, { byPerson: true });
    expect(admitted(await ask(runId, 2))).toEqual([]);
    await answer(before!);
    expect(admitted(await ask(runId, 2, 3))).toHaveLength(1);
  });

  it('admit() does not wait for the call of a worker that has died', async () => {
    const runId = await resumedRun('service.overbilled');
    await ask(runId, 1);
    await warehouse.query`
      update attempts set admitted_at = admitted_at - interval '1 minute' where run_id = ${runId}`;
    expect(admitted(await ask(runId, 2, 3))).toHaveLength(1);
  });

  it('admit() admits one call at a time if a call failed while a person had paused the run', async () => {
    const runId = await runningRun(warehouse);
    const byPerson = { type: 'run.paused', reason: 'of the test', next: 'resume it' } as const;
    await setRunStatus(warehouse, runId, 'paused', byPerson);
    const ofCall = { ...byPerson, type: 'service.unauthorized' } as const;
    expect(await pauseCalls(warehouse.database, runId, ofCall)).toBe(false);
    await setRunStatus(warehouse, runId, 'running', undefined, { byPerson: true });
    expect(admitted(await ask(runId, 1, 2, 3))).toHaveLength(1);
  });

  it.each(['run.paused', 'run.interrupted', 'pilot.done', 'budget.empty'] as const)(
    'admit() admits calls together after the pause %s',
    async (type) => {
      expect(admitted(await ask(await resumedRun(type), 1, 2, 3))).toHaveLength(3);
    },
  );
});
