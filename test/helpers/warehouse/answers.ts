import { type AnswerToRecord, storeAnswer } from '../../../src/calls/answers/store-answer.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import type { BulkAnswer } from '../../../src/service/answers/bulk-answer.ts';
import { digestAnswer } from '../../../src/people/digest.ts';
import type { Warehouse } from '../../../src/db/database.ts';

/** Returns an answer that bills one credit for each match. */
export function answerWith(
  matches: readonly (Person | null)[],
  differing: Partial<AnswerToRecord> = {},
): AnswerToRecord & Pick<BulkAnswer, 'unreadFields' | 'rateLimits'> {
  return {
    httpStatus: 200,
    requestId: undefined,
    matches,
    unreadableMatches: [],
    unreadFields: [],
    rateLimits: [],
    creditsConsumed: creditsFromWhole(matches.filter((match) => match !== null).length),
    creditsProblem: undefined,
    raw: Buffer.from(JSON.stringify({ matches })),
    ...differing,
  };
}

/** Stores an answer and digests it, as a batch does. */
export async function recordAnswer(
  warehouse: Warehouse,
  record: Parameters<typeof storeAnswer>[1],
): Promise<void> {
  await storeAnswer(warehouse, record);
  await digestAnswer(warehouse, record.attemptId);
}
