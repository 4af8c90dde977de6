import type { Person } from '../../../src/domain/identity/person.ts';
import type { AnswerToRecord } from '../../../src/calls/answers/store-answer.ts';
import { recordAnswer } from './answers.ts';
import { readOpenPeople, type OpenPerson } from '../../../src/calls/batches/open-people.ts';
import { openBudgetsOfRun } from '../../../src/ledger/credit-ledger.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { admit } from './admit.ts';
import { readContact, runningRunOf } from './scripted-calls.ts';
import { testLookupRequest, type StagedRow } from './rows.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';

let names = 0;

/** Returns a new person for each call, with a row, so that no two tests of a file share a person. */
export function inventPerson(): { row: StagedRow; person: Person } {
  names += 1;
  const email = `someone${names}@orbit.example`;
  return {
    row: { email, firstName: 'Some', lastName: `One${names}`, contactId: `c-${names}` },
    person: {
      id: `p-${names}`,
      first_name: 'Some',
      last_name: `One${names}`,
      email,
      email_status: 'verified',
      title: 'Engineer',
      organization: { id: 'o-1', name: 'Orbit', primary_domain: 'orbit.example', industry: 'space' },
    },
  };
}

/** A call that was admitted and has no answer yet. */
export interface AdmittedCall {
  readonly runId: string;
  readonly attemptId: string;
  readonly people: readonly OpenPerson[];
}

/** Helpers for tests that admit calls and record answers themselves, and then read the warehouse. */
export function callsByHand(warehouse: TestWarehouse) {
  /** Begins a run, plans and claims its people, and admits them as one call in flight. */
  async function callInFlight(rows: readonly StagedRow[]): Promise<AdmittedCall> {
    const runId = await runningRunOf(warehouse, rows);
    await openPage(warehouse, runId, 1, testLookupRequest);
    return admitAgain(runId);
  }

  async function admitAgain(runId: string): Promise<AdmittedCall> {
    const people = await readOpenPeople(warehouse.database, runId, 1);
    await openBudgetsOfRun(warehouse.database, runId);
    const rowNumbers = people.map((person) => person.rowNumber);
    const admission = await admit(warehouse.database, { runId, rowNumbers });
    if (admission.kind !== 'admitted') throw new Error(`not admitted: ${admission.kind}`);
    return { runId, attemptId: admission.attemptId, people };
  }

  function record(call: AdmittedCall, answer: AnswerToRecord) {
    return recordAnswer(warehouse, { attemptId: call.attemptId, people: call.people, answer });
  }

  async function attemptOf({ attemptId }: AdmittedCall) {
    const [attempt] = await warehouse.query`select * from attempts where attempt_id = ${attemptId}`;
    return attempt!;
  }

  /** Returns the reserved and the settled credits of the run. */
  async function moneyOf(runId: string): Promise<[number, number]> {
    const [budget] = await warehouse.query<{ reserved: string; settled: string }>`
      select reserved, settled from budgets where budget_id = ${`run:${runId}`}`;
    return [Number(budget!.reserved), Number(budget!.settled)];
  }

  async function claimsOf(runId: string): Promise<number> {
    const claims = await warehouse.query`select 1 from claims where run_id = ${runId}`;
    return claims.length;
  }

  const contact = (contactId: string) => readContact(warehouse, contactId);

  async function lookupOf({ email }: StagedRow) {
    const rows = await warehouse.query`
      select * from lookup_history join lookup_runs using (lookup_run)
      where key_hash = key_hash(${`email:${email}`}, 'test')`;
    return rows[0];
  }

  return { callInFlight, admitAgain, record, attemptOf, moneyOf, claimsOf, contact, lookupOf };
}
