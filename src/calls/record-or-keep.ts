import type { PauseReason } from '../contract/pause-reasons.ts';
import type { Warehouse } from '../db/database.ts';
import { canSucceedLater, databaseErrorCode } from '../db/postgres-errors.ts';
import { markUnknown } from '../ledger/close-attempt.ts';
import { sourceOf, type RunRecord } from '../runs/runs.ts';
import type { AnswerToRecord } from './answered-rows.ts';
import type { OpenPerson } from './open-people.ts';
import { compressBody, recordAnswer, type RecordedAnswer } from './record-answer.ts';

/**
 * Records a paid answer. If the database refuses the answer, its body is kept and the run pauses.
 *
 * @returns what was recorded, or why the run pauses
 */
export async function recordOrKeep(
  warehouse: Warehouse,
  run: RunRecord,
  call: {
    readonly attemptId: string;
    readonly people: readonly OpenPerson[];
    readonly answer: AnswerToRecord;
    readonly pollAfterSeconds: number;
  },
): Promise<{ readonly recorded: RecordedAnswer } | { readonly refused: PauseReason }> {
  const { pollAfterSeconds, ...record } = call;
  try {
    const recorded = await recordAnswer(warehouse, {
      ...record,
      source: sourceOf(run),
      asked: run.options,
      lateResults: { pollAfterSeconds, deadlineSeconds: run.options.lateDeadlineSeconds },
    });
    return { recorded };
  } catch (error) {
    if (!isRefusedByDatabase(error)) throw error;
    return { refused: await keepRefusedAnswer(warehouse, call.attemptId, call.answer, error) };
  }
}

/** Returns whether the database refuses the content of an answer, so that recording it again fails again. */
function isRefusedByDatabase(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !canSucceedLater(error);
}

/**
 * Keeps the body of a paid answer that the database refuses. The attempt becomes unknown: its credits stay reserved,
 * and no run pays for its people again by itself.
 *
 * @returns why the run pauses: the next answers can fail in the same way
 */
async function keepRefusedAnswer(
  warehouse: Warehouse,
  attemptId: string,
  answer: Pick<AnswerToRecord, 'raw'>,
  error: unknown,
): Promise<PauseReason> {
  const reason = `the database refuses the answer (${databaseErrorCode(error)})`;
  const body = await compressBody(answer.raw);
  await warehouse.database
    .insertInto('raw_answers')
    .values({ attempt_id: attemptId, body_gzip: body })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await markUnknown(warehouse, attemptId, reason);
  return {
    type: 'answer.refused-by-database',
    reason: `${reason}: attempt ${attemptId} is unknown, and its body is kept`,
    next:
      `read the answer in enrichment.raw_answers, and settle or release the attempt ` +
      `(enrich attempts show ${attemptId})`,
  };
}
