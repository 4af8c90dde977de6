import { storeAnswer } from '../../../src/calls/answers/store-answer.ts';
import { digestAnswer } from '../../../src/people/digest.ts';
import type { Warehouse } from '../../../src/db/database.ts';

/** Stores an answer and digests it, as a batch does. */
export async function recordAnswer(
  warehouse: Warehouse,
  record: Parameters<typeof storeAnswer>[1],
): Promise<void> {
  await storeAnswer(warehouse, record);
  await digestAnswer(warehouse, record.attemptId);
}
