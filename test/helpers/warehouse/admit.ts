import { randomUUID } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import type { Tables } from '../../../src/db/schema.ts';
import { inDigest } from '../../../src/people/digest.ts';
import { recordContacts } from '../../../src/people/record-contacts.ts';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';
import {
  openAdmissions,
  type Admission,
  type AdmissionLimits,
  type AdmissionRequest,
} from '../../../src/ledger/admit.ts';

/**
 * Admits one call as a worker does that has no other call to admit, and records its contacts, as a run does before its
 * calls. By default the call is of the first batch of an ad
 * hoc run, costs a credit for each person and has no limits.
 */
export async function admit(
  database: Kysely<Tables>,
  request: Partial<AdmissionRequest> & Pick<AdmissionRequest, 'runId' | 'rowNumbers'>,
  limits: Partial<AdmissionLimits> = {},
): Promise<Admission> {
  await inDigest(database, (transaction) =>
    recordContacts(transaction, request.runId, sql`r.row_number = any(${request.rowNumbers}::int[])`),
  );
  return openAdmissions(database, { service: 'test', rateLimits: [], budgets: {}, ...limits })({
    attemptId: randomUUID(),
    batch: 1,
    priority: 'ad-hoc',
    creditsPerPerson: wholeCredits(1),
    deadlineSeconds: 30,
    lateResults: false,
    ...request,
  });
}
