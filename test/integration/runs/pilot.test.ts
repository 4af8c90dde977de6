import { expect, it } from 'vitest';
import { planRun } from '../../../src/runs/planning/plan-run.ts';
import { judgePilot, restartMatchRate, checkMatchRate } from '../../../src/runs/quality-gates.ts';
import { markAttemptUnknown } from '../../../src/ledger/close-attempt.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { getRun, setRunStatus } from '../../../src/runs/runs.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { testLookupRequest, reopenRows, stagedRun } from '../../helpers/warehouse/rows.ts';
import { admit } from '../../helpers/warehouse/admit.ts';

const warehouse = await warehouseOfFile({ connections: 5 });
const budgets = {};

let runs = 0;

/** A planned run of 60 people, two in three with a work address, with a pilot of 12. */
async function plannedRun(options: object): Promise<string> {
  runs += 1;
  const rows = Array.from({ length: 60 }, (_, index) => {
    const email = `person-${index}@${index % 3 === 0 ? 'gmail.com' : 'nordlys.example'}`;
    return { keys: [`key-${runs}-${index}`], email, contactId: `contact-${runs}-${index}` };
  });
  const { runId } = await stagedRun(warehouse, rows);
  await warehouse.query`
    update runs set options = options || ${{ pilot: 12, ...options }}::jsonb where run_id = ${runId}`;
  await planRun({ warehouse, service: 'test', rateLimits: [], budgets, callConcurrency: 1 }, runId);
  await setRunStatus(warehouse, runId, 'running', undefined);
  return runId;
}

/** Answers the pilot: the service finds so many of its people, for one credit each. */
async function answer(runId: string, found: number, phones?: readonly string[]): Promise<void> {
  const rows = await warehouse.query<{ row_number: number; contact_id: string }>`
    select row_number, contact_id from run_people join run_rows using (run_id, row_number)
    where run_id = ${runId} and position < 1000 order by position`;
  for (const [index, row] of rows.entries()) {
    const outcome = index < found ? 'enriched' : 'not_found';
    await warehouse.query`
      update run_rows set outcome = ${outcome} where run_id = ${runId} and row_number = ${row.row_number}`;
    if (outcome === 'enriched')
      await appendContact(warehouse, {
        contactId: row.contact_id,
        runId,
        rowNumber: row.row_number,
        ...(phones && { phones }),
        person: { id: `${runId}-${row.row_number}`, ...(index % 2 === 0 && { email: 'x@y.example' }) },
      });
  }
  await warehouse.query`
    insert into attempts (attempt_id, run_id, batch, status, people, credits_reserved, credits_settled, budget_ids)
    values (${runId}, ${runId}, 1, 'settled', 12, 12, ${found}, '{}')`;
}

it('a pilot is a sample of work and free-mail rows, in a page before all other people', async () => {
  const runId = await plannedRun({});
  const { plan } = await getRun(warehouse, runId);
  expect(plan).toMatchObject({ people: 60, pages: 2, calls: 7, pilot: { people: 12, pages: 1 } });
  const rows = await warehouse.query`
    select split_part(email, '@', 2) as domain, count(*)::int as people
    from run_people
    join run_rows using (run_id, row_number)
    where run_id = ${runId} and position < 1000
    group by 1
    order by 1`;
  expect(rows).toEqual([
    { domain: 'gmail.com', people: 4 },
    { domain: 'nordlys.example', people: 8 },
  ]);
  expect(await openPage(warehouse, runId, 1, testLookupRequest)).toEqual({ batches: [1, 2], people: 12 });
  expect((await openPage(warehouse, runId, 2, testLookupRequest)).people).toBe(48);
});

it('a pilot without a rule pauses the run once, and the reason has its match rate and cost', async () => {
  const runId = await plannedRun({});
  await answer(runId, 6);
  const judged = await judgePilot(warehouse, runId);
  expect(judged).toMatchObject({ kind: 'pause', pauseReason: { type: 'pilot.done' } });
  expect(await judgePilot(warehouse, runId)).toEqual(judged);
  const { status, pauseReason } = await getRun(warehouse, runId);
  expect(status).toBe('paused');
  expect(pauseReason?.reason).toBe(
    'pilot of 12 people; 6 of 12 found: 50.0 % (25.4 % to 74.6 %); 6 credits: 2.00 per email (3)',
  );
  await setRunStatus(warehouse, runId, 'running', undefined, { byOperator: true });
  expect(await judgePilot(warehouse, runId)).toMatchObject({ kind: 'continue' });
});

it.each([
  ['50 % with --min-match-rate 0.5', { minMatchRate: 0.5 }, 'continue', undefined],
  ['50 % with --min-match-rate 0.6', { minMatchRate: 0.6 }, 'pause', 'the match rate is below 60.0 %: pilot'],
])(
  'a pilot pauses the run only if its match rate is below --min-match-rate: %s',
  async (_, options, kind, reason) => {
    const runId = await plannedRun(options);
    await answer(runId, 6);
    const judged = await judgePilot(warehouse, runId);
    expect(judged.kind).toBe(kind);
    if (judged.kind === 'pause') expect(judged.pauseReason.reason).toContain(reason);
    expect((await getRun(warehouse, runId)).status).toBe(kind === 'pause' ? 'paused' : 'running');
  },
);

/** A run whose 12 calls found one person in ten. */
async function poorRun(): Promise<string> {
  const runId = await plannedRun({});
  for (let call = 1; call <= 12; call += 1) {
    const attempt = `${runId}-${call}`;
    await warehouse.query`
      insert into attempts (
        attempt_id, run_id, batch, status, people, credits_reserved, credits_settled, budget_ids, answered_at)
      values (${attempt}, ${runId}, 9, 'settled', 10, 10, 0, '{}', clock_timestamp())`;
    await warehouse.query`
      insert into attempt_people (attempt_id, detail_index, run_id, row_number, outcome)
      select ${attempt}, n, ${runId}, n, case when n = 0 then 'enriched' else 'not_found' end
      from generate_series(0, 9) n`;
  }
  return runId;
}

it('the quality gate of the match rate does not pause a run that has no people left to request', async () => {
  const runId = await poorRun();
  await warehouse.query`update run_rows set outcome = 'not_found' where run_id = ${runId}`;
  expect(await checkMatchRate(warehouse, runId, 0.4)).toBeUndefined();
});

it('the quality gate counts the last 120 people, and begins anew after restartMatchRate()', async () => {
  const runId = await poorRun();
  expect(await checkMatchRate(warehouse, runId, null)).toBeUndefined();
  // Each check reports the low match rate until the run is paused, because the pause may fail.
  for (let check = 1; check <= 2; check += 1)
    expect((await checkMatchRate(warehouse, runId, 0.4))?.reason).toContain('12 of the last 120 people');
  await restartMatchRate(warehouse, runId);
  expect(await checkMatchRate(warehouse, runId, 0.4)).toBeUndefined();
});

it('with --on-unknown retry, people of an unknown call are requested a second but not a third time', async () => {
  const runId = await plannedRun({ onUnknown: 'retry', pilot: null });
  expect((await getRun(warehouse, runId)).plan?.credits.worst_case).toBe('120');
  const ask = async (): Promise<void> => {
    const admission = await admit(warehouse.database, { runId, rowNumbers: [1, 2] }, { budgets });
    if (admission.kind !== 'admitted') throw new Error(admission.kind);
    await markAttemptUnknown(warehouse, admission.attemptId, 'a test');
  };
  await ask();
  expect(await reopenRows(warehouse, runId, [1, 2, 3])).toEqual([1, 2]);
  await ask();
  expect(await reopenRows(warehouse, runId, [1, 2, 3])).toEqual([]);
  const rows = await warehouse.query`
    select status, count(*)::int as calls, sum(credits_reserved)::int as held
    from attempts where run_id = ${runId} group by 1`;
  expect(rows).toEqual([{ status: 'unknown', calls: 2, held: 4 }]);
});
