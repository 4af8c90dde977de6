import type { PauseReason } from '../../contract/pause-reasons.ts';
import type { Warehouse } from '../../db/database.ts';
import { canSucceedLater, databaseErrorCode } from '../../db/postgres-errors.ts';
import { markUnknownWith } from '../../ledger/close-attempt.ts';
import { pauseCalls } from '../../ledger/pause-calls.ts';
import { asksForSuppressed } from '../../late-results/suppressed-of-delivery.ts';
import { writeAboutPeople } from '../../suppression/write-about-people.ts';
import { sourceOf, type RunRecord } from '../../runs/runs.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { AnswerToRecord } from './answered-rows.ts';
import type { OpenPerson } from '../batches/open-people.ts';
import { compressBody, recordAnswer } from './record-answer.ts';

/**
 * Records a paid answer. If the answer cannot be recorded, one transaction keeps its body, marks the attempt unknown
 * and pauses the run, because the next answers can fail in the same way. The credits stay reserved, and no run pays for
 * the people again by itself. The body is not kept if the call asked for a person who is now suppressed or erased.
 *
 * @returns why the run is paused; undefined: the answer is recorded
 * @throws errors of the database after which the same work can succeed
 */
export async function recordOrKeep(
  { warehouse, log }: { readonly warehouse: Warehouse; readonly log: Logger },
  run: RunRecord,
  call: {
    readonly attemptId: string;
    readonly people: readonly OpenPerson[];
    readonly answer: AnswerToRecord;
    readonly pollAfterSeconds: number;
  },
): Promise<PauseReason | undefined> {
  const { attemptId, people, answer, pollAfterSeconds } = call;
  try {
    await recordAnswer(warehouse, {
      attemptId,
      people,
      answer,
      source: sourceOf(run),
      asked: run.options,
      lateResults: { pollAfterSeconds, deadlineSeconds: run.options.lateDeadlineSeconds },
    });
    return undefined;
  } catch (error) {
    if (canSucceedLater(error)) throw error;
    log.error({ err: error, attemptId }, 'an answer cannot be recorded');
    const body = await compressBody(answer.raw);
    const reason = `the answer cannot be recorded (${databaseErrorCode(error) ?? (error as Error).name})`;
    return writeAboutPeople(warehouse.database, async (transaction) => {
      const isKept = !(await asksForSuppressed(transaction, { attemptId, runId: run.runId }));
      const settles = `settle or release the attempt (enrich attempts list ${attemptId})`;
      const pauseReason: PauseReason = {
        type: 'answer.not-recorded',
        reason: `${reason}: attempt ${attemptId} is unknown, and its body is ${isKept ? 'kept' : 'not kept'}`,
        next:
          (isKept ? `read the answer in enrichment.raw_answers, and ${settles}` : settles) +
          `; then: enrich resume ${run.runId}`,
      };
      await markUnknownWith(transaction, attemptId, reason);
      if (isKept)
        await transaction
          .insertInto('raw_answers')
          .values({ attempt_id: attemptId, body_gzip: body })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      await pauseCalls(transaction, run.runId, pauseReason);
      return pauseReason;
    });
  }
}
