import { createHash } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { erase } from '../../../src/privacy/erase.ts';
import { keysOfRecord } from '../../../src/privacy/person-traces.ts';
import { openPage } from '../../../src/runs/pages.ts';
import { undoRun } from '../../../src/runs/undo-run.ts';
import { markAttemptUnknown } from '../../../src/ledger/close-attempt.ts';
import { openTestWarehouse, warehouseOfFile } from '../../helpers/database/database.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { readAllTablesAsText } from '../../helpers/database/contents.ts';
import {
  callWithPhones,
  deliverTo,
  drainCall,
  phonesBody,
  storeDeliveryFor,
} from '../../helpers/warehouse/late-calls.ts';
import {
  testLookupRequest,
  outcomesOf,
  stagedRun,
  testNote,
  noSignal,
} from '../../helpers/warehouse/rows.ts';
import {
  answerBatch,
  runningRunOf,
  plannedOutcomes,
  plannedRun,
  personOf,
  playRun,
} from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

async function keysOf(runId: string): Promise<string[][]> {
  const rows = await warehouse.query<{ keys: string[] }>`
    select keys from run_rows where run_id = ${runId} order by row_number`;
  return rows.map(({ keys }) => keys);
}

it('an erasure by e-mail deletes an answer with the person, although the person has no id and no row', async () => {
  const runId = await runningRunOf(warehouse, [{ email: 'asked@orbit.example' }]);
  const stranger = { id: null, first_name: 'Zoe', last_name: 'Quist', email: 'zoe@elsewhere.example' };
  const { attemptId } = await answerBatch(warehouse, { runId }, () => [null, stranger]);
  const bodies = () => warehouse.query`select from raw_answers where attempt_id = ${attemptId}`;
  expect(await bodies()).toHaveLength(1);
  expect(await erase(warehouse, ['email:zoe@elsewhere.example'], testNote)).toMatchObject({ answers: 1 });
  expect(await bodies()).toHaveLength(0);
});

it('an erasure by e-mail also deletes an answer that shares only name and employer with the row', async () => {
  const name = { firstName: 'Nils', lastName: 'Weakly' };
  const row = { ...name, email: 'nils@vesta.example', organizationName: 'Vesta' };
  const runId = await runningRunOf(warehouse, [row]);
  await answerBatch(warehouse, { runId }, () => [
    personOf(name, { id: null, organization: { name: 'Vesta' } }),
  ]);
  expect(await outcomesOf(warehouse, runId)).toEqual(['identity_mismatch']);
  await erase(warehouse, [`email:${row.email}`], testNote);
  expect(await readAllTablesAsText(warehouse)).not.toContain('Weakly');
});

it('an erasure by e-mail clears the keys of rows that have only a hash of the e-mail', async () => {
  const email = 'hashed@orbit.example';
  const run = await stagedRun(warehouse, [
    { keys: [`hash:${md5(email)}`] },
    { keys: [`hash:${sha256(email)}`] },
  ]);
  expect(await erase(warehouse, [`email:${email}`], testNote)).toMatchObject({ rows: 2 });
  expect(await keysOf(run.runId)).toEqual([[], []]);
});

it.each([
  ['staged', 'ingested_at'],
  ['refused', 'finished_at'],
])(
  'an erasure replaces the path and the file name of a %s export that contain the e-mail',
  async (_, ended) => {
    const run = await stagedRun(warehouse, [{ keys: [], contactId: 'of-address' }]);
    const path = `query:select '' where email in ('named@orbit.example')`;
    await warehouse.query`
    update runs set file_path = ${path}, file_name = 'Named@Orbit.example.csv', ingested_at = null
    where run_id = ${run.runId}`;
    await warehouse.pool.query(`update runs set ${ended} = now() where run_id = $1`, [run.runId]);
    await erase(warehouse, ['email:named@orbit.example'], testNote);
    expect(await warehouse.query`select file_path, file_name from runs where run_id = ${run.runId}`).toEqual([
      { file_path: 'erased', file_name: 'erased' },
    ]);
  },
);

it('an erasure removes export URLs with the e-mail, also URL-encoded, and keeps those of other e-mails', async () => {
  for (const name of [
    'fetched+crm@orbit.example',
    'Fetched%2Bcrm%40orbit.example',
    'fetched@orbit.example',
  ]) {
    const run = await stagedRun(warehouse, []);
    const address = `https://crm.example/${name}.csv`;
    await warehouse.query`
      update runs set file_path = ${address}, ingested_at = now() where run_id = ${run.runId}`;
  }
  await erase(warehouse, ['email:fetched+crm@orbit.example'], testNote);
  const rows = await warehouse.query`
    select file_path from runs where file_path like 'https://crm.example/%'`;
  expect(rows).toEqual([{ file_path: 'https://crm.example/fetched@orbit.example.csv' }]);
});

it('an erasure clears malformed rows that contain the e-mail or the id, also inside a longer word', async () => {
  const cells = ['Torn@Orbit.example', 'untorn@orbit.example', 'ada@orbit.example', 'TornId7'];
  const run = await stagedRun(
    warehouse,
    cells.map(() => ({ keys: [] })),
  );
  await warehouse.query`
    update run_rows set outcome = 'malformed', raw = '["Ada","' || (${cells}::text[])[row_number] || '",""]'
    where run_id = ${run.runId}`;
  await erase(warehouse, ['email:torn@orbit.example', 'person:TornId7'], testNote);
  const rows = await warehouse.query`
    select raw, outcome from run_rows where run_id = ${run.runId} order by row_number`;
  expect(rows).toEqual([
    { raw: '[]', outcome: 'malformed' },
    { raw: '[]', outcome: 'malformed' },
    { raw: '["Ada","ada@orbit.example",""]', outcome: 'malformed' },
    { raw: '[]', outcome: 'malformed' },
  ]);
});

it.each(['finished', 'undone'])(
  'an erasure clears a row that was matched to the person by name and employer only (run: %s)',
  async (state) => {
    const name = { firstName: 'Dora', lastName: `Accepted-${state}` };
    const row = { ...name, email: 'info@fjord.example', organizationName: 'Fjord' };
    const email = `accepted-${state}@fjord.example`;
    const person = personOf({ ...name, email }, { organization: { name: 'Fjord' } });
    const runId = await playRun(warehouse, [{ ...row, contactId: `of-${state}` }], [person]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['enriched']);
    if (state === 'undone') await undoRun(warehouse, runId, testNote, noSignal);
    expect(await erase(warehouse, [`email:${email}`], testNote)).toMatchObject({ rows: 1 });
    expect((await readAllTablesAsText(warehouse)).toLowerCase()).not.toContain(`accepted-${state}`);
  },
);

it('an erasure keeps a colleague who has the same shared mailbox', async () => {
  const run = await stagedRun(warehouse, [
    { keys: ['email:info@shared.example', 'profile:linkedin.com/in/shared-ada'] },
    { keys: ['email:info@shared.example|bo roller'] },
    { keys: ['email:info@shared.example'] },
  ]);
  await appendContact(warehouse, {
    source: 'hubspot',
    contactId: 'bo',
    runId: 'gone',
    person: { id: 'shared-bo', email: 'info@shared.example' },
  });
  expect(await erase(warehouse, ['profile:linkedin.com/in/shared-ada'], testNote)).toMatchObject({
    contacts: 0,
    rows: 1,
  });
  const bo = { keys: ['email:info@shared.example|bo roller'] };
  expect(await plannedOutcomes(warehouse, [bo])).toEqual([null]);
  expect((await keysOf(run.runId)).map((keys) => keys.length)).toEqual([0, 1, 1]);
});

it('deliveries of an unknown call do not bring back a person who was erased by e-mail', async () => {
  const call = await callWithPhones(warehouse);
  await markAttemptUnknown(warehouse, call.attemptId, 'lost');
  await storeDeliveryFor(warehouse, call, phonesBody(call.ids, 24));
  await erase(warehouse, [`email:${call.people[0]!.identity.email}`], testNote);
  await drainCall(warehouse, call);
  await deliverTo(warehouse, call, phonesBody(call.ids.slice(0, 1), 8));
  const rows = await warehouse.query`
    select status, body, credits::int from webhook_deliveries where attempt_id = ${call.attemptId}`;
  expect(rows).toEqual([
    { status: 'applied', body: null, credits: 24 },
    { status: 'applied', body: null, credits: 8 },
  ]);
  expect((await readAllTablesAsText(warehouse)).includes(call.ids[0]!)).toBe(false);
});

it('an erased person is not claimed by a page that opens at the same moment', async () => {
  // Simultaneous transactions need a new plan for each statement, as in the product.
  const replanning = await openTestWarehouse();
  onTestFinished(() => replanning.close());
  const runs: string[] = [];
  for (let n = 0; n < 10; n += 1)
    runs.push(
      await plannedRun(replanning, [{ email: `page${n}@orbit.example` }, { personId: `beside-page-${n}` }]),
    );
  await Promise.all(
    runs.flatMap((runId, n) => [
      openPage(replanning, runId, 1, testLookupRequest),
      erase(replanning, [`email:page${n}@orbit.example`], testNote),
    ]),
  );
  const rows = await replanning.query`select identity_key from claims where identity_key like 'email:page%'`;
  expect(rows).toEqual([]);
});

it('keysOfRecord() has no keys for a CRM record id that two people have had', async () => {
  await stagedRun(warehouse, [{ keys: ['email:first@reused.example'], contactId: 'reused' }]);
  await stagedRun(warehouse, [{ keys: ['email:second@reused.example'], contactId: 'reused' }]);
  expect(await keysOfRecord(warehouse.database, { source: 'generic', contactId: 'reused' })).toBeUndefined();
});
