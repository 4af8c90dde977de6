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

type RecordedAnswer = Parameters<typeof storeAnswer>[1];

/** Stores an answer and digests it, as a batch does. By default the call requested no late results. */
export async function recordAnswer(
  warehouse: Warehouse,
  {
    asked,
    lateResults = { pollAfterSeconds: 60, deadlineSeconds: 3_600 },
    people,
    ...record
  }: Pick<RecordedAnswer, 'attemptId' | 'answer'> & {
    readonly people: readonly unknown[];
    readonly asked?: Partial<RecordedAnswer['asked']>;
    readonly lateResults?: RecordedAnswer['lateResults'];
  },
): Promise<void> {
  const request = { reveal: [], waterfall: [], service: 'test', ...asked };
  await storeAnswer(warehouse, { ...record, people: people.length, asked: request, lateResults });
  await digestAnswer(warehouse, record.attemptId);
}
