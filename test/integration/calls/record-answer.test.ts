import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { decideAttempt } from '../../../src/ledger/decide-attempt.ts';
import { budgetsOf } from '../../../src/ledger/credit-ledger.ts';
import { closeWithoutCost, markUnknown } from '../../../src/ledger/close-attempt.ts';
import { readOpenPeople, type OpenPerson } from '../../../src/calls/batches/open-people.ts';
import { openPage } from '../../../src/runs/pages/pages.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import type { AnswerToRecord } from '../../../src/calls/answers/answered-rows.ts';
import { recordAnswer } from '../../../src/calls/answers/record-answer.ts';
import { readBulkAnswer } from '../../../src/service/answers/bulk-answer.ts';
import { operations } from '../../../src/service/endpoints.ts';
import { rejectPerson } from '../../../src/calls/batches/reject-person.ts';
import { reconcileContacts } from '../../../src/runs/reconciliation/reconcile-contacts.ts';
import { endRun } from '../../../src/runs/end-run.ts';
import { getRun, setRunStatus } from '../../../src/runs/runs.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { keyOfId } from '../../../src/people/log/observation.ts';
import { appendContact } from '../../helpers/warehouse/append-contact.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { asked, outcomesOf, reopenRows, stagedRun, type StagedRow } from '../../helpers/warehouse/rows.ts';
import { admit } from '../../helpers/warehouse/admit.ts';
import { answerWith } from '../../helpers/warehouse/answer-with.ts';

const { signal } = new AbortController();
const undoNote = { by: 'test', reason: undefined };
const refused = { status: 'refused', reason: 'refused', httpStatus: 422 } as const;
const warehouse = await warehouseOfFile();

let names = 0;

/** A person whom no other test knows. */
function somebody(): { row: StagedRow; person: Person } {
  names += 1;
  const email = `someone${names}@orbit.example`;
  return {
    row: {
      keys: [`email:${email}`],
      email,
      firstName: 'Some',
      lastName: `One${names}`,
      contactId: `c-${names}`,
    },
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

interface Admitted {
  readonly runId: string;
  readonly attemptId: string;
  readonly people: readonly OpenPerson[];
}

/** A run whose people are planned, claimed and admitted: one call is in flight. */
async function callInFlight(rows: readonly StagedRow[]): Promise<Admitted> {
  const { runId } = await stagedRun(warehouse, rows);
  await planRows(warehouse, runId, asked);
  await setRunStatus(warehouse, runId, 'running', undefined);
  await openPage(warehouse, runId, 1, asked);
  return admitAgain(runId);
}

async function admitAgain(runId: string): Promise<Admitted> {
  const people = await readOpenPeople(warehouse.database, runId, 1);
  const budgets = {};
  await budgetsOf(warehouse.database, runId, budgets);
  const admission = await admit(
    warehouse.database,
    {
      runId,
      rowNumbers: people.map((person) => person.rowNumber),
    },
    { budgets },
  );
  if (admission.kind !== 'admitted') throw new Error(`not admitted: ${admission.kind}`);
  return { runId, attemptId: admission.attemptId, people };
}

function record(call: Admitted, answer: AnswerToRecord) {
  return recordAnswer(warehouse, {
    attemptId: call.attemptId,
    source: 'generic',
    people: call.people,
    answer,
    asked: { reveal: [], waterfall: [], service: 'test' },
    lateResults: { pollAfterSeconds: 60, deadlineSeconds: 3_600 },
  });
}

async function attemptOf({ attemptId }: Admitted) {
  return warehouse.database
    .selectFrom('attempts')
    .selectAll()
    .where('attempt_id', '=', attemptId)
    .executeTakeFirstOrThrow();
}

/** Reserved and settled credits of the run. */
async function moneyOf(runId: string): Promise<[number, number]> {
  const budget = await warehouse.database
    .selectFrom('budgets')
    .selectAll()
    .where('budget_id', '=', `run:${runId}`)
    .executeTakeFirstOrThrow();
  return [Number(budget.reserved), Number(budget.settled)];
}

async function claimsOf(runId: string): Promise<number> {
  const claims = await warehouse.pool.query('select 1 from claims where run_id = $1', [runId]);
  return claims.rows.length;
}

async function contact(contactId: string) {
  return warehouse.database
    .selectFrom('enriched_contacts')
    .selectAll()
    .where('contact_id', '=', contactId)
    .executeTakeFirst();
}

async function budgetOf(runId: string) {
  return warehouse.database
    .selectFrom('budgets')
    .select(['reserved', 'settled'])
    .where('budget_id', '=', `run:${runId}`)
    .executeTakeFirst();
}

async function lookupOf(key: string) {
  const { rows } = await warehouse.pool.query(
    `select * from lookup_history join lookup_runs using (lookup_run) where key_hash = key_hash($1, 'test')`,
    [key],
  );
  return rows[0];
}

describe('an answer', () => {
  it('an answer makes a person fresh who fits no row', async () => {
    const [asks, extra] = [somebody(), somebody()];
    const call = await callInFlight([asks.row]);
    await record(call, answerWith([null, extra.person]));
    expect(await lookupOf(extra.row.keys[0]!)).toMatchObject({ found: true, field_group: 'profile' });
    expect(await lookupOf(asks.row.keys[0]!)).toMatchObject({ found: false });
    const later = await stagedRun(warehouse, [extra.row]);
    expect(await planRows(warehouse, later.runId, asked)).toMatchObject({ people: 0 });
    await reconcileContacts(warehouse, later.runId, new AbortController().signal);
    expect(await outcomesOf(warehouse, later.runId)).toEqual(['fresh']);
    expect(await contact(extra.row.contactId!)).toMatchObject({ person_id: extra.person.id });
  });

  it('an answer gives every row its outcome and every person to the right contact', async () => {
    const [found, missed, wrong] = [somebody(), somebody(), somebody()];
    const stranger = { id: 'x', first_name: 'Xavier', last_name: 'Quill', email: 'x@elsewhere.example' };
    const call = await callInFlight([found.row, missed.row, wrong.row]);

    await record(call, answerWith([found.person, null, stranger]));

    expect(await moneyOf(call.runId)).toEqual([0, 2]);
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched', 'not_found', 'identity_mismatch']);
    const lookups = await Promise.all([found, missed, wrong].map(({ row }) => lookupOf(row.keys[0]!)));
    // The service returns the stranger again, and bills the person again.
    expect(lookups.map((lookup) => lookup.found)).toEqual([true, false, null]);
    expect(await contact(found.row.contactId!)).toMatchObject({
      person_id: found.person.id,
      email: found.person.email,
      organization_domain: 'orbit.example',
      run_id: call.runId,
      attempt_id: call.attemptId,
      row_number: 1,
    });
    expect(await contact(missed.row.contactId!)).toBeUndefined();
    expect(await contact(wrong.row.contactId!)).toBeUndefined();
    const quarantined = await warehouse.pool.query(
      'select match_index, reason from quarantined_people where attempt_id = $1',
      [call.attemptId],
    );
    expect(quarantined.rows).toEqual([{ match_index: 2, reason: 'another name' }]);
    const observed = await warehouse.pool.query(
      `select o.person_key, p.email from observations o join people p using (service, person_key)
       where o.attempt_id = $1 and o.person_id = 'x'`,
      [call.attemptId],
    );
    expect(observed.rows).toEqual([{ person_key: 'person:x', email: 'x@elsewhere.example' }]);
  });

  it('an answer settles the billed credits and releases the rest of the reservation', async () => {
    const [one, two] = [somebody(), somebody()];
    const call = await callInFlight([one.row, two.row]);
    expect(await moneyOf(call.runId)).toEqual([2, 0]);

    const requestId = '-9007199254740993123';
    await record(call, answerWith([one.person, null], { requestId, creditsConsumed: 250_000n }));

    expect(await moneyOf(call.runId)).toEqual([0, 0.25]);
    expect(await attemptOf(call)).toMatchObject({
      status: 'settled',
      request_id: requestId,
      credits_settled: '0.250000',
    });
  });

  it('an answer releases the claims and records lookups under the keys of the row and of the person', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    expect(await claimsOf(call.runId)).toBe(1);

    await record(call, answerWith([person]));

    expect(await claimsOf(call.runId)).toBe(0);
    expect(await lookupOf(row.keys[0]!)).toMatchObject({ found: true, run_id: call.runId });
    expect(await lookupOf(`person:${person.id}`)).toMatchObject({ found: true });
  });

  it('an answer records lookups under the personal and saved addresses of the person', async () => {
    const { row, person } = somebody();
    const [personal, saved] = [`${row.contactId}@home.example`, `${row.contactId}@saved.example`];
    const call = await callInFlight([row]);

    const savedContact = { contact_emails: [{ email: saved }] };
    await record(call, answerWith([{ ...person, personal_emails: [personal], contact: savedContact }]));

    expect(await lookupOf(`email:${personal}`)).toMatchObject({ found: true, run_id: call.runId });
    expect(await lookupOf(`email:${saved}`)).toMatchObject({ found: true, run_id: call.runId });
  });

  it('an answer writes the addresses of the saved contact with their status', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    const savedContact = {
      email: 'main@saved.example',
      email_status: 'unverified',
      contact_emails: [{ email: 'more@saved.example', email_status: 'verified' }, null],
    };
    await record(call, answerWith([{ ...person, contact: savedContact }]));
    const { rows } = await warehouse.pool.query(
      'select email, email_status from person_emails where person_id = $1 order by position offset 1',
      [person.id],
    );
    expect(rows).toEqual([
      { email: 'main@saved.example', email_status: 'unverified' },
      { email: 'more@saved.example', email_status: 'verified' },
    ]);
  });

  it.each([
    ['its phone', { phone: '+14155550111', primary_phone: { number: '+14155550122' } }, '+14155550111'],
    ['the number of its primary phone', { primary_phone: { number: '+14155550122' } }, '+14155550122'],
    ['no phone if the primary phone states none', { primary_phone: { source: 'web' } }, null],
  ])('an answer gives a company %s', async (_, phones, phone) => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    const organization = { id: `o-phone-${row.contactId}`, name: 'Orbit', ...phones };
    await record(call, answerWith([{ ...person, organization }]));
    const { rows } = await warehouse.pool.query(
      'select phone from organizations where organization_id = $1',
      [organization.id],
    );
    expect(rows).toEqual([{ phone }]);
  });

  it('an answer is stored as it came', async () => {
    const { row } = somebody();
    const call = await callInFlight([row]);
    await record(
      call,
      answerWith([null], { raw: Buffer.from('{"matches":[null],"x":"\\u0000"} \xff', 'latin1') }),
    );
    const raw = await warehouse.database
      .selectFrom('raw_answers')
      .select('body_gzip')
      .where('attempt_id', '=', call.attemptId)
      .executeTakeFirstOrThrow();
    expect(gunzipSync(raw.body_gzip).toString('latin1')).toBe('{"matches":[null],"x":"\\u0000"} \xff');
  });

  it('an answer whose texts PostgreSQL refuses is recorded without the refused characters', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    await record(
      call,
      answerWith([
        {
          ...person,
          id: 'p\u0000-nul',
          title: 'Chief \ud800Officer',
          departments: ['a\u0000b'],
          proflink_url: 'https://linkedin.com/in/a%00b',
        },
      ]),
    );
    expect(await contact(row.contactId!)).toMatchObject({
      person_id: 'p-nul',
      title: 'Chief Officer',
      departments: ['ab'],
    });
  });

  it('an element of an answer that is no person is no miss for the row in its position', async () => {
    const { row } = somebody();
    const call = await callInFlight([row]);
    await record(
      call,
      answerWith([null], { unreadableMatches: [{ index: 0, reason: 'the element is no object' }] }),
    );
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['identity_mismatch']);
  });

  it('an answer with 5,000 people is read up to the limit, and misses nobody for certain', async () => {
    const [known, beyond] = [somebody(), somebody()];
    const call = await callInFlight([known.row, beyond.row]);
    const strangers = Array.from({ length: 5_000 }, (_, index) => ({
      id: `s-${index}`,
      name: `Ada Novak${index}`,
    }));
    const matches = [known.person, ...strangers, beyond.person];
    const body = Buffer.from(JSON.stringify({ credits_consumed: 2, matches }));
    await record(
      call,
      readBulkAnswer({ status: 200, headers: {}, body, receivedAt: 0 }, operations.bulkMatch),
    );
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched', 'identity_mismatch']);
    expect(await moneyOf(call.runId)).toEqual([0, 2]);
    const { rows } = await warehouse.pool.query<{ reason: string }>(
      'select reason from quarantined_people where attempt_id = $1 order by match_index',
      [call.attemptId],
    );
    expect(rows).toHaveLength(100);
    expect(rows.at(-1)?.reason).toBe('unreadable: the answer has 5002 elements, of which 100 are read');
  });
});

describe('an answer whose people have parts of another type', () => {
  /** A body with a byte order mark and numbers that a float would round, as the client reads it. */
  function answerAsRead(person: object): AnswerToRecord {
    const matches = JSON.stringify([person]).replace('"12345678901234567"', '12345678901234567');
    const body = `\ufeff{"request_id":-9007199254740993123,"credits_consumed":1,"matches":${matches}}`;
    const http = { status: 200, headers: {}, body: Buffer.from(body), receivedAt: 0 };
    return readBulkAnswer(http, operations.bulkMatch);
  }

  async function saidBy({ attemptId }: Admitted) {
    const { rows } = await warehouse.pool.query<{
      facts: Record<string, unknown>;
      organization: unknown;
      rank: string;
    }>(
      `select o.facts, o.facts #>> '{account,traffic_ranking}' as rank, f.facts as organization
       from observations o left join organization_facts f on f.facts_hash = o.organization_facts
       where o.attempt_id = $1`,
      [attemptId],
    );
    return rows;
  }

  it('an answer with a part of another type gives a row the rest of its person, and settles the price', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    const [job, account] = [
      { organization_name: 'Fjord', title: 7 },
      { traffic_ranking: '12345678901234567' },
    ];
    await record(
      call,
      answerAsRead({
        ...person,
        organization: 'Orbit',
        contact: ['saved'],
        employment_history: ['x', job],
        account,
      }),
    );
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched']);
    expect(await contact(row.contactId!)).toMatchObject({ title: 'Engineer', organization_name: null });
    const [said] = await saidBy(call);
    expect(said).toMatchObject({
      organization: null,
      rank: '12345678901234567',
      facts: { employment: [{ organization_name: 'Fjord' }] },
    });
    expect(said!.facts).not.toHaveProperty('contact');
    expect(await moneyOf(call.runId)).toEqual([0, 1]);
  });

  it('a person with a part of another type is never given by weak evidence, also at the end of the run', async () => {
    const {
      row: { email: _, ...named },
      person,
    } = somebody();
    const call = await callInFlight([{ ...named, organizationName: 'Fjord' }]);
    await record(
      call,
      answerAsRead({
        ...person,
        email: null,
        organization: 'Orbit',
        employment_history: [{ organization_name: 'Fjord' }],
      }),
    );
    await reconcileContacts(warehouse, call.runId, new AbortController().signal);
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['identity_mismatch']);
    expect(await contact(named.contactId!)).toBeUndefined();
    expect(await moneyOf(call.runId)).toEqual([0, 1]);
  });
});

describe('credits that are not as expected', () => {
  it('an answer without credits: people are recorded, the attempt is unknown, its reservation held', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    await record(call, answerWith([person], { creditsConsumed: undefined, creditsProblem: 'negative' }));
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched']);
    expect(await moneyOf(call.runId)).toEqual([1, 0]);
    expect(await attemptOf(call)).toMatchObject({
      status: 'unknown',
      reason: 'credits_consumed is negative',
      credits_settled: null,
    });
  });

  it('an answer with more credits than reserved is settled in full and pauses its run once', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    const answer = answerWith([person], { creditsConsumed: wholeCredits(9) });
    await record(call, answer);
    expect(await moneyOf(call.runId)).toEqual([0, 9]);
    expect(await getRun(warehouse, call.runId)).toMatchObject({
      status: 'paused',
      pauseReason: { type: 'service.overbilled' },
    });
    // The reply to the commit was lost, and a person has resumed the run.
    await setRunStatus(warehouse, call.runId, 'running', undefined);
    await record(call, answer);
    expect(await getRun(warehouse, call.runId)).toMatchObject({ status: 'running' });
  });
});

describe('recorded again', () => {
  it('an answer that is recorded again after a lost reply to COMMIT changes nothing', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    await record(call, answerWith([person]));
    await record(call, answerWith([person]));
    expect(await moneyOf(call.runId)).toEqual([0, 1]);
  });

  it('an answer that two workers record at once is recorded once', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    await Promise.all([1, 2, 3, 4].map(() => record(call, answerWith([person]))));
    expect(await moneyOf(call.runId)).toEqual([0, 1]);
    const entries = warehouse.database.selectFrom('observations').where('attempt_id', '=', call.attemptId);
    expect(await entries.select('kind').execute()).toEqual([{ kind: 'answer' }]);
  });

  it('an attempt that was abandoned as unknown accepts its answer afterwards', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    await markUnknown(warehouse, call.attemptId, 'no answer within 30 s');
    await record(call, answerWith([person]));
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched']);
    expect(await moneyOf(call.runId)).toEqual([0, 1]);
    expect(await claimsOf(call.runId)).toBe(0);
  });
});

describe('people who are asked for once more after an unknown call', () => {
  it('people of two calls stay claimed until both calls are decided', async () => {
    const { row } = somebody();
    const first = await callInFlight([row]);
    await markUnknown(warehouse, first.attemptId, 'no answer');
    await reopenRows(warehouse, first.runId, [1]);
    const second = await admitAgain(first.runId);
    await decideAttempt(warehouse, first.attemptId, { credits: '0' });
    expect(await claimsOf(first.runId)).toBe(1);
    await markUnknown(warehouse, second.attemptId, 'no answer');
    await decideAttempt(warehouse, second.attemptId, { credits: '0' });
    expect(await claimsOf(first.runId)).toBe(0);
  });

  it('people of a decided unknown call are left to the next run', async () => {
    const call = await callInFlight([somebody().row]);
    await markUnknown(warehouse, call.attemptId, 'no answer');
    await decideAttempt(warehouse, call.attemptId, { credits: '0' });
    expect(await reopenRows(warehouse, call.runId, [1])).toEqual([]);
  });

  it('a partial answer to an unknown call lets later runs ask for the people whom it does not have', async () => {
    const [known, other] = [somebody(), somebody()];
    const call = await callInFlight([known.row, other.row]);
    await markUnknown(warehouse, call.attemptId, 'its worker was lost');
    const body = {
      status: 'failed',
      error_code: 'INSUFFICIENT_CREDITS',
      matches: [known.person, null],
      credits_consumed: 1,
    };
    const { partial } = readBulkAnswer(
      { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)), receivedAt: 0 },
      operations.bulkMatch,
    );
    await record(call, answerWith([known.person, null], { partial }));
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched', 'unknown']);
    expect(await claimsOf(call.runId)).toBe(0);
    const { row } = other;
    const { runId } = await callInFlight([{ ...row, contactId: 'asked-again' }]);
    expect(await outcomesOf(warehouse, runId)).toEqual([null]);
  });
});

describe('an older answer', () => {
  it('an answer after a decision pauses its run if its credits exceed a budget', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    await markUnknown(warehouse, call.attemptId, 'no answer');
    await decideAttempt(warehouse, call.attemptId, { credits: '0' });
    await warehouse.pool.query(`update budgets set credits_limit = 0 where budget_id = $1`, [
      `run:${call.runId}`,
    ]);
    await record(call, answerWith([person]));
    expect(await moneyOf(call.runId)).toEqual([0, 1]);
    expect(await getRun(warehouse, call.runId)).toMatchObject({
      status: 'paused',
      pauseReason: { type: 'service.overbilled' },
    });
  });

  it('an answer after a decision is recorded and settles credits beyond the decision', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    await markUnknown(warehouse, call.attemptId, 'no answer');
    await decideAttempt(warehouse, call.attemptId, { credits: '0' });
    await record(call, answerWith([person], { requestId: '1', phoneEnrichment: { status: 'skipped' } }));
    expect(await attemptOf(call)).toMatchObject({
      status: 'settled',
      credits_settled: '1.000000',
      request_id: '1',
      found_people: 1,
      phones_with_earlier: true,
    });
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched']);
    expect(await budgetOf(call.runId)).toMatchObject({ reserved: '0.000000', settled: '1.000000' });
  });

  it('an answer to the first of two calls does not contradict the answer to the second', async () => {
    const { row, person } = somebody();
    const first = await callInFlight([row]);
    await markUnknown(warehouse, first.attemptId, 'no answer');
    await reopenRows(warehouse, first.runId, [1]);
    const second = await admitAgain(first.runId);
    await record(first, answerWith([null]));
    await record(second, answerWith([person]));
    expect(await outcomesOf(warehouse, first.runId)).toEqual(['enriched']);
    expect(await moneyOf(first.runId)).toEqual([0, 1]);
  });

  it("an older answer about another person leaves nothing of the contact's former person", async () => {
    const [former, present] = [somebody(), somebody()];
    const contactId = 'reused';
    const before = await callInFlight([{ ...former.row, contactId }]);
    await record(before, answerWith([former.person]));
    await appendContact(warehouse, {
      contactId,
      runId: before.runId,
      person: former.person,
      phones: ['+14155550100'],
    });
    expect(await contact(contactId)).toMatchObject({ phone: '+14155550100' });
    const after = await callInFlight([{ ...present.row, contactId }]);
    await record(after, answerWith([{ ...present.person, title: null, email_status: null }]));
    expect(await contact(contactId)).toMatchObject({
      person_id: present.person.id,
      email: present.person.email,
      title: null,
      phone: null,
    });
  });

  it('an older answer that is recorded later replaces neither contact nor lookup history', async () => {
    const { row, person } = somebody();
    const older = await callInFlight([row]);
    await markUnknown(warehouse, older.attemptId, 'no answer within 30 s');
    // The operator let it be asked for again.
    await warehouse.pool.query('delete from claims where run_id = $1', [older.runId]);
    const newer = await callInFlight([row]);
    await record(newer, answerWith([{ ...person, title: 'Director' }]));

    await record(older, answerWith([person]));

    expect(await outcomesOf(warehouse, older.runId)).toEqual(['enriched']);
    expect(await contact(row.contactId!)).toMatchObject({ title: 'Director', run_id: newer.runId });
    expect(await lookupOf(row.keys[0]!)).toMatchObject({ run_id: newer.runId });
  });
});

describe('a newer answer', () => {
  it('a newer answer keeps fields that it leaves empty, and replaces an address with its status', async () => {
    const { row, person } = somebody();
    await record(await callInFlight([row]), answerWith([person]));
    await warehouse.pool.query('delete from lookup_history');
    await record(
      await callInFlight([row]),
      answerWith([
        {
          id: person.id,
          first_name: person.first_name,
          last_name: person.last_name,
          email: person.email,
          title: null,
          organization: { name: 'Fjord' },
        },
      ]),
    );
    expect(await contact(row.contactId!)).toMatchObject({
      title: 'Engineer',
      email: person.email,
      email_status: null,
      organization_name: 'Fjord',
      organization_industry: null,
    });
  });

  it('an answer that has only the id of the employer keeps what is known of this company, and no other', async () => {
    const { row, person } = somebody();
    const company = { id: 'o-7', name: 'Fjord', primary_domain: 'fjord.example' };
    await record(await callInFlight([row]), answerWith([{ ...person, organization: company }]));
    for (const [organization_id, organization_name] of [
      ['o-7', 'Fjord'],
      ['o-8', null],
    ]) {
      await warehouse.pool.query('delete from lookup_history');
      await record(
        await callInFlight([row]),
        answerWith([{ ...person, organization: null, organization_id: organization_id! }]),
      );
      expect(await contact(row.contactId!)).toMatchObject({ organization_id, organization_name });
    }
    const { rows } = await warehouse.pool.query(
      `select organization_id, name from organizations where organization_id in ('o-7', 'o-8')`,
    );
    expect(rows).toEqual([{ organization_id: 'o-7', name: 'Fjord' }]);
  });
});

describe('a call without an answer', () => {
  it('a refused call releases its credits, and its people can be admitted again', async () => {
    const { row } = somebody();
    const call = await callInFlight([row]);
    await closeWithoutCost(warehouse, call.attemptId, refused);
    expect(await moneyOf(call.runId)).toEqual([0, 0]);
    expect(await attemptOf(call)).toMatchObject({ status: 'refused', http_status: 422 });
    expect(await outcomesOf(warehouse, call.runId)).toEqual([null]);
    expect((await admitAgain(call.runId)).people).toHaveLength(1);
  });

  it('a released call releases its credits once, however often it is released', async () => {
    const { row } = somebody();
    const call = await callInFlight([row]);
    await closeWithoutCost(warehouse, call.attemptId, { status: 'released', reason: 'connection refused' });
    await closeWithoutCost(warehouse, call.attemptId, { status: 'released', reason: 'connection refused' });
    expect(await moneyOf(call.runId)).toEqual([0, 0]);
    expect(await attemptOf(call)).toMatchObject({ status: 'released', credits_settled: '0.000000' });
  });

  it('an unknown call holds its credits and claims, and its rows say so', async () => {
    const { row } = somebody();
    const call = await callInFlight([row]);
    await markUnknown(warehouse, call.attemptId, 'reset after sending');
    expect(await moneyOf(call.runId)).toEqual([1, 0]);
    expect(await claimsOf(call.runId)).toBe(1);
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['unknown']);
    expect(await attemptOf(call)).toMatchObject({ status: 'unknown', reason: 'reset after sending' });
  });

  it.each(['refused', 'released'] as const)(
    'an unknown call that its first worker finds %s frees its credits and people for later runs',
    async (status) => {
      const { row } = somebody();
      const call = await callInFlight([row]);
      await markUnknown(warehouse, call.attemptId, 'the worker was lost');
      await closeWithoutCost(warehouse, call.attemptId, { status, reason: 'no cost' });
      expect(await attemptOf(call)).toMatchObject({ status, credits_settled: '0.000000' });
      expect(await moneyOf(call.runId)).toEqual([0, 0]);
      expect(await claimsOf(call.runId)).toBe(0);
      expect(await outcomesOf(warehouse, call.runId)).toEqual(['unknown']);
    },
  );

  it('a settled call cannot be released or made unknown', async () => {
    const { row, person } = somebody();
    const call = await callInFlight([row]);
    await record(call, answerWith([person]));
    await closeWithoutCost(warehouse, call.attemptId, { status: 'released', reason: 'late' });
    await markUnknown(warehouse, call.attemptId, 'late');
    expect(await attemptOf(call)).toMatchObject({ status: 'settled', credits_settled: '1.000000' });
    expect(await moneyOf(call.runId)).toEqual([0, 1]);
  });

  it('a person whom the service refuses is rejected, free for other runs, and in the lookup history', async () => {
    const { row } = somebody();
    const call = await callInFlight([row]);
    await closeWithoutCost(warehouse, call.attemptId, refused);
    await rejectPerson(warehouse, {
      runId: call.runId,
      rowNumber: 1,
      reason: 'the email is not valid',
      asked: { reveal: [], waterfall: [], service: 'test' },
    });
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['rejected']);
    expect(await claimsOf(call.runId)).toBe(0);
    expect(await lookupOf(row.keys[0]!)).toMatchObject({ found: false });
  });
});

describe('many calls at once', () => {
  it('concurrent calls about the same people are recorded without a deadlock, and credits add up', async () => {
    const crowd = Array.from({ length: 10 }, somebody);
    const calls: Admitted[] = [];
    for (let run = 0; run < 8; run += 1) {
      // Each in another order; claims are taken away, as if operators had let all of them be asked again.
      const rows = crowd.map((_, index) => crowd[(index * 3 + run) % 10]!.row);
      calls.push(await callInFlight(rows));
      await warehouse.pool.query('delete from claims');
    }
    const people = crowd.map(({ person }) => person);
    await Promise.all(calls.map((call) => record(call, answerWith(people))));
    for (const { runId } of calls) expect(await moneyOf(runId)).toEqual([0, 10]);
    const newest = calls.at(-1)!;
    for (const { row } of crowd)
      expect(await contact(row.contactId!)).toMatchObject({ run_id: newest.runId });
  });
});

describe('an id that the service gives to two people', () => {
  /** Two people of one id, each alone in a call unless they share one. */
  function ofOneId(): readonly [ReturnType<typeof somebody>, ReturnType<typeof somebody>] {
    const [one, two] = [somebody(), somebody()];
    Object.assign(two.row, { firstName: 'Other', lastName: `Two${names}` });
    return [one, { ...two, person: { ...two.person, id: one.person.id, ...named(two.row) } }];
  }

  const named = ({ firstName, lastName }: StagedRow) => ({ first_name: firstName, last_name: lastName });

  const ownData = (people: ReturnType<typeof ofOneId>) =>
    people.map(({ row }) => ({ contact_id: row.contactId, ...named(row), email: row.email }));

  async function dataOf(people: ReturnType<typeof ofOneId>): Promise<unknown[]> {
    const { rows } = await warehouse.pool.query(
      `select contact_id, first_name, last_name, email from enriched_contacts
       where contact_id = any($1) order by length(contact_id), contact_id`,
      [people.map(({ row }) => row.contactId)],
    );
    return rows;
  }

  it('two people with one id in one answer each get their own data', async () => {
    const people = ofOneId();
    const call = await callInFlight(people.map(({ row }) => row));
    await record(call, answerWith(people.map(({ person }) => person)));
    expect(await dataOf(people)).toEqual(ownData(people));
  });

  it.each([false, true])(
    'two people with one id in two answers each get their own data (the first run is undone: %s)',
    async (isUndone) => {
      const people = ofOneId();
      for (const { row, person } of people) {
        const call = await callInFlight([row]);
        await record(call, answerWith([person]));
        await endRun(warehouse, call.runId, 'finished', undefined);
        if (isUndone && row === people[0].row) await undoRun(warehouse, call.runId, undoNote, signal);
      }
      const [{ runId }] = (
        await warehouse.pool.query<{ runId: string }>(
          'select run_id as "runId" from run_rows where contact_id = $1',
          [people[0].row.contactId],
        )
      ).rows as [{ runId: string }];
      if (isUndone) await revertUndo(warehouse, runId, signal);
      expect(await dataOf(people)).toEqual(ownData(people));
    },
  );

  it('two people with one id each get their own data after an answer without a name', async () => {
    const people = ofOneId();
    const [{ row, person }, two] = people;
    for (const [requested, found] of [
      [row, person],
      [somebody().row, { id: person.id!, email: row.email! }],
      [two.row, two.person],
    ] as const)
      await record(await callInFlight([requested]), answerWith([found]));
    expect(await dataOf(people)).toEqual(ownData(people));
  });

  it('two people with one id in two answers at once each get their own data', async () => {
    const people = ofOneId();
    const calls: Admitted[] = [];
    for (const { row } of people) calls.push(await callInFlight([row]));
    const holder = await warehouse.pool.connect();
    await holder.query('begin');
    await holder.query("select lock_log('test', $1, '{}', '{}')", [[keyOfId(people[0].person.id!)]]);
    const recordings = people.map(({ person }, index) => record(calls[index]!, answerWith([person])));
    const waiting = async () =>
      (await warehouse.pool.query("select from pg_locks where locktype = 'advisory' and not granted"))
        .rowCount;
    await expect.poll(waiting).toBe(2);
    await holder.query('rollback');
    holder.release();
    await Promise.all(recordings);
    expect(await dataOf(people)).toEqual(ownData(people));
  });

  it('a person who changes the last name keeps the id', async () => {
    const [before, after] = [somebody(), somebody()];
    const married = { ...after.person, id: before.person.id!, last_name: 'Married' };
    for (const [{ row }, person] of [
      [before, before.person],
      [after, married],
    ] as const) {
      const call = await callInFlight([{ ...row, lastName: person.last_name! }]);
      await record(call, answerWith([person]));
    }
    const { rows } = await warehouse.pool.query(
      'select last_name from enriched_contacts where contact_id = any($1)',
      [[before.row.contactId, after.row.contactId]],
    );
    expect(rows).toEqual([{ last_name: 'Married' }, { last_name: 'Married' }]);
  });
});
