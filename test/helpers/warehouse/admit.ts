import { randomUUID } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import type { Tables } from '../../../src/db/schema.ts';
import { withDigestLocked } from '../../../src/people/digest.ts';
import { recordContacts } from '../../../src/people/record-contacts.ts';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import {
  createAdmission,
  type Admission,
  type AdmissionLimits,
  type AdmissionRequest,
} from '../../../src/ledger/admit.ts';
import type { RateLimit } from '../../../src/domain/rates/rate-limit.ts';
import { bulkMatchScope } from '../../../src/ledger/rate-windows.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';

/**
 * Records the contacts of a call and admits the call alone, as a worker does. By default the call is the one of
 * `requestFor`, and has no limits.
 */
export async function admit(
  database: Kysely<Tables>,
  request: Partial<AdmissionRequest> & Pick<AdmissionRequest, 'runId' | 'rowNumbers'>,
  limits: Partial<AdmissionLimits> = {},
): Promise<Admission> {
  await withDigestLocked(database, (transaction) =>
    recordContacts(transaction, request.runId, sql`r.row_number = any(${request.rowNumbers}::int[])`),
  );
  return createAdmission(database, { service: 'test', rateLimits: [], budgets: {}, ...limits })({
    ...requestFor(request.runId, 1),
    ...request,
  });
}

/** Service and rate scope of the calls that `admit` admits. */
export const bulkCalls = { service: 'test', scope: bulkMatchScope };

/** Returns a request for a call with the people of a run, from a row number on. */
export function requestFor(runId: string, from: number, people = 10): AdmissionRequest {
  return {
    attemptId: randomUUID(),
    runId,
    batch: 1,
    priority: 'ad-hoc',
    rowNumbers: Array.from({ length: people }, (_, index) => from + index),
    creditsPerPerson: creditsFromWhole(1),
    deadlineSeconds: 30,
    lateResults: false,
  };
}

interface AskOptions {
  readonly people?: number;
  readonly rateLimits?: readonly RateLimit[];
  readonly deadlineSeconds?: number;
  readonly from?: number;
  readonly perDay?: number;
  readonly service?: string;
}

/** Makes calls for the people of runs, one call after another. */
export function nextCalls(warehouse: TestWarehouse) {
  const rowsAskedFor = new Map<string, number>();

  /** Requests the admission of a call for the next people of a run. */
  async function ask(runId: string, options: AskOptions = {}): Promise<Admission> {
    const people = options.people ?? 10;
    const from = options.from ?? rowsAskedFor.get(runId) ?? 1;
    rowsAskedFor.set(runId, from + people);
    return admit(
      warehouse.database,
      { ...requestFor(runId, from, people), deadlineSeconds: options.deadlineSeconds ?? 30 },
      {
        service: options.service ?? bulkCalls.service,
        rateLimits: options.rateLimits ?? [],
        budgets: { day: options.perDay === undefined ? undefined : creditsFromWhole(options.perDay) },
      },
    );
  }

  /** Admits a call without a rate limit of the pipeline. */
  async function begin(runId: string): Promise<string> {
    const admission = await ask(runId);
    if (admission.kind !== 'admitted') throw new Error(JSON.stringify(admission));
    return admission.attemptId;
  }

  return { ask, begin };
}

/** Removes every call from the rate windows, as if all calls had ended long ago. */
export async function emptyWindows(warehouse: TestWarehouse): Promise<void> {
  await warehouse.query`delete from rate_calls; delete from rate_scopes; delete from rate_reports`;
}
