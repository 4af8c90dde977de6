import { expect, it } from 'vitest';
import { lookupRequestOf, openPage } from '../../../src/runs/pages.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { undoRun, revertUndo } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  addToSuppressionList,
  outcomesOf,
  testNote,
  noSignal,
  type StagedRow,
  neverFresh,
} from '../../helpers/warehouse/rows.ts';
import {
  answerBatch,
  runningRunOf,
  readContact,
  personOf,
  endPlayedRun,
  playRun,
} from '../../helpers/warehouse/scripted-calls.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { expectRebuildEqual } from '../../helpers/database/contents.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const contact = (contactId: string) => readContact(warehouse, contactId);

const adaNovak = { firstName: 'Ada', lastName: 'Novak' };
const former = (contactId: string) => ({ ...adaNovak, email: `ada.${contactId}@one.example`, contactId });
const zoeQuist = { firstName: 'Zoe', lastName: 'Quist' };
const heir = (contactId: string) => ({ ...zoeQuist, email: `zoe.${contactId}@two.example`, contactId });
const enriched = (row: StagedRow) => playRun(warehouse, [row], [personOf(row)], { source: 'crm' });

const listed = (email: string): Promise<unknown> => addToSuppressionList(warehouse, `email:${email}`);

it.each(['opted out', 'on the suppression list', 'put on the suppression list after the plan'])(
  'a contact loses its person if a newer suppressed row names another person (%s); an undo restores it',
  async (how) => {
    const contactId = `heir-${how.length}`;
    await enriched(former(contactId));
    if (how === 'on the suppression list') await listed(heir(contactId).email);
    const row = { ...heir(contactId), optedOut: how === 'opted out' };
    const runId = await runningRunOf(warehouse, [row], { source: 'crm' });
    if (how === 'put on the suppression list after the plan') {
      await listed(heir(contactId).email);
      const { options } = await getRun(warehouse, runId);
      await openPage(warehouse, runId, 1, lookupRequestOf(options));
    }
    expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
    await reconcileContacts(warehouse, runId, noSignal);
    expect(await contact(contactId)).toBeUndefined();
    expect(await reconcileContacts(warehouse, runId, noSignal)).toEqual({ filled: 0, withdrawn: 0 });
    await endRun(warehouse, runId, 'finished', undefined);
    await undoRun(warehouse, runId, testNote, noSignal);
    expect(await contact(contactId)).toMatchObject({ first_name: 'Ada' });
  },
);

it.each([[[former, heir]], [[heir, former]]])(
  'a contact loses its person if a run has two rows of its CRM record with different people (order %#)',
  async (people) => {
    const id = `contested-${people[0] === heir ? 'heir' : 'former'}`;
    await enriched(former(id));
    await enriched({ ...heir(id), contactId: `${id}-elsewhere` });
    const rows = people.map((rowOf) => rowOf(id));
    const runId = await runningRunOf(warehouse, rows, { source: 'crm' });
    expect(await outcomesOf(warehouse, runId)).toEqual(['duplicate', 'duplicate']);
    await reconcileContacts(warehouse, runId, noSignal);
    expect(await contact(id)).toBeUndefined();
  },
);

it.each(['opted out', 'on the suppression list'])(
  'a contact keeps its person if its newer, suppressed row names the same person (%s)',
  async (how) => {
    const contactId = `same-${how.length}`;
    await enriched(former(contactId));
    if (how === 'on the suppression list') await listed(former(contactId).email);
    const row = { ...former(contactId), optedOut: how === 'opted out' };
    const runId = await runningRunOf(warehouse, [row], { source: 'crm' });
    expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
    expect(await reconcileContacts(warehouse, runId, noSignal)).toEqual({ filled: 0, withdrawn: 0 });
    expect(await contact(contactId)).toMatchObject({ first_name: 'Ada' });
  },
);

it('a personal e-mail on the suppression list in an answer suppresses the row and removes the answer', async () => {
  await addToSuppressionList(warehouse, 'email:ada.private@home.example');
  const row = { email: 'ada7@one.example', firstName: 'Ada', lastName: 'Seven', contactId: 'listed' };
  const runId = await runningRunOf(warehouse, [row]);
  const { attemptId } = await answerBatch(warehouse, { runId }, () => [
    personOf(row, { personal_emails: ['Ada.Private@home.example'] }),
  ]);
  expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
  expect(await contact('listed')).toBeUndefined();
  const cells = await warehouse.query`select email, first_name, keys from run_rows where run_id = ${runId}`;
  expect(cells).toEqual([{ email: null, first_name: null, keys: [] }]);
  const bodies = await warehouse.query`select 1 from raw_answers where attempt_id = ${attemptId}`;
  expect(bodies).toEqual([]);
});

it('an answer with a suppressed person suppresses the row and its duplicates, and clears their cells', async () => {
  await addToSuppressionList(warehouse, 'person:P8');
  const row = { firstName: 'Ada', lastName: 'Eight', organizationName: 'Orbit' };
  const rows = [row, { ...row, contactId: 'again' }, { ...row, lastName: 'Nine' }];
  const runId = await runningRunOf(warehouse, rows);
  await answerBatch(warehouse, { runId }, () => [
    { id: 'P8', first_name: 'Ada', last_name: 'Eight', organization: { name: 'Orbit' } },
    null,
  ]);
  const written = await warehouse.query`
    select outcome, last_name, reason from run_rows where run_id = ${runId} order by row_number`;
  expect(written).toMatchObject([
    { outcome: 'suppressed', last_name: null },
    { outcome: 'suppressed', last_name: null, reason: 'the same person is on the suppression list by row 1' },
    { outcome: 'not_found', last_name: 'Nine' },
  ]);
});

it('a contact of two runs gets the person of the run that began later, also if that run ends first', async () => {
  const row = { lastName: 'Novak', contactId: 'at-once' };
  const ada = { ...row, email: 'ada@at-once.example', firstName: 'Ada' };
  const zoe = { ...row, email: 'zoe@at-once.example', firstName: 'Zoe' };
  const first = await runningRunOf(warehouse, [ada], { source: 'crm' });
  const second = await runningRunOf(warehouse, [zoe], { source: 'crm' });
  for (const [runId, of] of [[second, zoe] as const, [first, ada] as const]) {
    await answerBatch(warehouse, { runId }, () => [personOf(of)]);
    await endPlayedRun(warehouse, runId);
    expect(await contact('at-once')).toMatchObject({ first_name: 'Zoe' });
  }
  await undoRun(warehouse, second, testNote, noSignal);
  expect(await contact('at-once')).toMatchObject({ first_name: 'Ada' });
  await revertUndo(warehouse, second, noSignal);
  expect(await contact('at-once')).toMatchObject({ first_name: 'Zoe' });
});

const restored = { email: 'ada@revert.example', firstName: 'Ada', lastName: 'Novak', contactId: 'reverted' };
const runOf = (row: StagedRow, source: string) =>
  playRun(warehouse, [row], [personOf(row)], { source, freshness: neverFresh });
const decisionsOf = (contacts: string) => warehouse.query`
  select contact_id, person_key, evidence, asked, run_id, row_number
  from contacts where contact_id like ${`${contacts}%`} order by contact_id`;

it('completing an interrupted revert restores all contacts, although another run reconciled in between', async () => {
  const first = await runOf(restored, 'crm-1');
  const second = await runOf({ ...restored, contactId: 'reverted-too' }, 'crm-2');
  const before = await decisionsOf('reverted');
  await undoRun(warehouse, first, testNote, noSignal);
  expect(await revertUndo(warehouse, first, AbortSignal.abort())).toMatchObject({ complete: false });
  await reconcileContacts(warehouse, second, noSignal);
  await revertUndo(warehouse, first, noSignal);
  expect(await decisionsOf('reverted')).toEqual(before);
});

it('completing an interrupted revert restores all contacts, although another revert ran in between', async () => {
  const row = (first: string, contactId: string) => ({
    ...restored,
    email: `${first}@half.example`,
    contactId,
  });
  await runOf(row('ada', 'half'), 'half-1');
  await runOf(row('zoe', 'half-zoe'), 'half-2');
  const own = await runOf(row('zoe', 'half'), 'half-1');
  const other = await runOf(row('ada', 'half-ada'), 'half-2');
  const before = await decisionsOf('half');
  for (const runId of [own, other]) await undoRun(warehouse, runId, testNote, noSignal);
  expect(await revertUndo(warehouse, own, AbortSignal.abort())).toMatchObject({ complete: false });
  await revertUndo(warehouse, other, noSignal);
  await revertUndo(warehouse, own, noSignal);
  expect(await decisionsOf('half')).toEqual(before);
});

it('erasing the person of the newest row does not give the contact the person of an older row again', async () => {
  const ada = { email: 'ada@erased.example', firstName: 'Ada', lastName: 'Novak', contactId: 'inherited' };
  const zoe = { email: 'zoe@erased.example', firstName: 'Zoe', lastName: 'Quist', contactId: 'inherited' };
  for (const row of [ada, zoe]) {
    const runId = await runningRunOf(warehouse, [row]);
    await answerBatch(warehouse, { runId }, () => [row === ada ? personOf(ada) : null]);
    await endRun(warehouse, runId, 'finished', undefined);
  }
  expect(await contact('inherited')).toBeUndefined();
  await erase(warehouse, [`email:${zoe.email}`], testNote);
  await expectRebuildEqual(warehouse);
  expect(await contact('inherited')).toBeUndefined();
});
