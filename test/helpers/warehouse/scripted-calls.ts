import type { Person } from '../../../src/domain/identity/person.ts';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import { refreshOpenPeople, type OpenPerson } from '../../../src/calls/batches/open-people.ts';
import { recordAnswer, answerWith } from './answers.ts';
import { lookupRequestOf, openPage } from '../../../src/runs/pages.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { getRun, setRunStatus } from '../../../src/runs/runs.ts';
import { testLookupRequest, stagedRun, testSpec, type StagedRow, outcomesOf, noSignal } from './rows.ts';
import { admit } from './admit.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import type { RunOptions } from '../../../src/domain/runs/run-options.ts';

/** The people of a test's call, and the reveals and waterfalls that the call requests. */
export interface ScriptedCall {
  readonly runId: string;
  readonly batch?: number;
  readonly waterfall?: readonly ('email' | 'phone')[];
}

/** Begins a planned run. */
export async function plannedRun(
  warehouse: TestWarehouse,
  rows: readonly StagedRow[],
  options: Partial<RunOptions> = {},
): Promise<string> {
  const run = await stagedRun(warehouse, rows, testSpec(options));
  await planRows(warehouse, run.runId, lookupRequestOf(run.options));
  return run.runId;
}

/** Begins a planned run with status `running`. */
export async function runningRunOf(...of: Parameters<typeof plannedRun>): Promise<string> {
  const [warehouse] = of;
  const runId = await plannedRun(...of);
  await reconcileContacts(warehouse, runId, noSignal);
  await setRunStatus(warehouse, runId, 'running', undefined);
  return runId;
}

/** Plans a run of rows. @returns the outcome of each row; null: the run would request the person */
export async function plannedOutcomes(...of: Parameters<typeof plannedRun>): Promise<(string | null)[]> {
  return outcomesOf(of[0], await plannedRun(...of));
}

/** Plans a run of rows and opens its page. @returns the outcome of each row */
export async function openedOutcomes(
  warehouse: TestWarehouse,
  rows: readonly StagedRow[],
): Promise<(string | null)[]> {
  const runId = await plannedRun(warehouse, rows);
  await openPage(warehouse, runId, 1, testLookupRequest);
  return outcomesOf(warehouse, runId);
}

/** Plays a run whose call returns these people. @returns the id of the run */
export async function playRun(
  warehouse: TestWarehouse,
  rows: readonly StagedRow[],
  people: readonly (Person | null)[],
  options: Partial<RunOptions> = {},
): Promise<string> {
  const runId = await runningRunOf(warehouse, rows, options);
  await answerBatch(warehouse, { runId }, () => people);
  await endPlayedRun(warehouse, runId);
  return runId;
}

/** Ends a run as its workflow does. */
export async function endPlayedRun(warehouse: TestWarehouse, runId: string): Promise<void> {
  await reconcileContacts(warehouse, runId, noSignal);
  await endRun(warehouse, runId, 'finished', undefined);
}

/** Returns the person of a row, as the service states it. */
export function personOf({ email, firstName, lastName }: StagedRow, more: Partial<Person> = {}): Person {
  return { id: `P-${email}`, first_name: firstName, last_name: lastName, email, ...more };
}

/**
 * Admits one batch and records the answer of a test.
 *
 * @param answer makes the answer from the requested people, in the order of `details`
 */
export async function answerBatch(
  warehouse: TestWarehouse,
  { runId, batch = 1, waterfall = [] }: ScriptedCall,
  answer: (people: readonly OpenPerson[]) => readonly (Person | null)[],
): Promise<{ readonly attemptId: string; readonly token: string | undefined }> {
  const run = await getRun(warehouse, runId);
  const open = { runId, batches: [batch] };
  const people = await refreshOpenPeople(warehouse.database, open, lookupRequestOf(run.options));
  const admission = await admit(warehouse.database, {
    runId,
    batch,
    rowNumbers: people.map(({ rowNumber }) => rowNumber),
    creditsPerPerson: creditsFromWhole(waterfall.length > 0 ? 20 : 1),
    lateResults: waterfall.length > 0,
  });
  if (admission.kind !== 'admitted') throw new Error(admission.kind);
  const matches = answer(people);
  await recordAnswer(warehouse, {
    attemptId: admission.attemptId,
    people,
    asked: { waterfall },
    answer: answerWith(matches, {
      // A price above the reservation would pause the run.
      creditsConsumed: creditsFromWhole(Math.min(people.length, matches.filter(Boolean).length)),
      ...(waterfall.length > 0 && { waterfall: { status: 'accepted' } }),
    }),
  });
  return { attemptId: admission.attemptId, token: admission.token };
}

/** Reads a contact from the warehouse; undefined if the contact has no person. */
export async function readContact(
  warehouse: TestWarehouse,
  contactId: string,
): Promise<Record<string, unknown> | undefined> {
  const rows = await warehouse.query<Record<string, unknown>>`
    select * from enriched_contacts where contact_id = ${contactId}`;
  return rows[0];
}
