import type { Kysely } from 'kysely';
import type { Tables } from '../../../src/db/schema.ts';
import {
  openAdmissions,
  type Admission,
  type AdmissionLimits,
  type AdmissionRequest,
} from '../../../src/ledger/admit.ts';

/** Admits one call as a worker does that has no other call to admit. */
export function admit(
  database: Kysely<Tables>,
  request: AdmissionRequest,
  limits: AdmissionLimits,
): Promise<Admission> {
  return openAdmissions(database, limits)(request);
}
