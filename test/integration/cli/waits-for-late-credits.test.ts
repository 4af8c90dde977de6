import { expect, it } from 'vitest';
import { waitsForLateCredits } from '../../../src/cli/run/follow-run.ts';
import type { Session } from '../../../src/cli/session/session.ts';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';
import { getRun, setRunStatus } from '../../../src/runs/runs.ts';
import { resolveBudgetExhaustion } from '../../../src/runs/resolve-budget-exhaustion.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answeredCall, deliverTo, phonesBody, type PhonesCall } from '../../helpers/warehouse/late-calls.ts';
import { runningRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile({ connections: 2 });

function session(embedded: boolean, dayCredits: number): Session {
  const config = { budgets: { perPeriod: { day: wholeCredits(dayCredits) } } };
  return { warehouse, config, stack: { temporal: { embedded } } } as unknown as Session;
}

/** A call that holds the day's last credits for its phones. */
async function pausedRun(): Promise<PhonesCall> {
  const call = await answeredCall(warehouse);
  const budgets = { day: wholeCredits(30) };
  const resolution = await resolveBudgetExhaustion({ warehouse, budgets }, call.runId);
  if (resolution.kind !== 'wait') throw new Error(resolution.kind);
  expect(resolution.pauseReason.reason).toContain('when late results release enough credits');
  await setRunStatus(warehouse, call.runId, 'paused', resolution.pauseReason);
  return call;
}

it('a command with embedded Temporal waits for late results of a run that a budget pauses', async () => {
  const call = await pausedRun();
  const waits = async (embedded: boolean, dayCredits: number) =>
    waitsForLateCredits(session(embedded, dayCredits), await getRun(warehouse, call.runId));
  expect(await waits(true, 30)).toContain('late results of 1 call');
  expect(await waits(false, 30)).toBeUndefined();
  await deliverTo(warehouse, call, phonesBody(call.ids, 8, { request_id: call.requestId }));
  expect(await waits(true, 30)).toContain('has credits again');
  expect(await waits(true, 0)).toBeUndefined();
});

it('a command with embedded Temporal does not wait for late results of a run that a person has paused', async () => {
  const runId = await runningRun(warehouse, '10');
  await setRunStatus(warehouse, runId, 'paused', { type: 'run.paused', reason: 'a person', next: '' });
  expect(await waitsForLateCredits(session(true, 30), await getRun(warehouse, runId))).toBeUndefined();
});
