import { describe, expect, it } from 'vitest';
import { lookupRequestOf, openPage } from '../../../src/runs/pages.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { undoRun, revertUndo } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { addToSuppressionList, outcomesOf } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf, readContact } from '../../helpers/warehouse/scripted-calls.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { erase } from '../../../src/privacy/erase.ts';

const { signal } = new AbortController();
const note = { by: 'test', reason: undefined };
const warehouse = await warehouseOfFile({ keepsPlans: true });
const contact = (contactId: string) => readContact(warehouse, contactId);

describe('a contact with a suppressed newest row', () => {
  const former = (contactId: string) => ({
    keys: [`email:ada.${contactId}@one.example`],
    email: `ada.${contactId}@one.example`,
    firstName: 'Ada',
    lastName: 'Novak',
    contactId,
  });
  const heir = (contactId: string) => ({
    keys: [`email:zoe.${contactId}@two.example`],
    email: `zoe.${contactId}@two.example`,
    firstName: 'Zoe',
    lastName: 'Quist',
    contactId,
  });
  const personOf = ({ email, firstName, lastName }: ReturnType<typeof former>) => ({
    id: `P-${email}`,
    first_name: firstName,
    last_name: lastName,
    email,
  });

  async function enriched(row: ReturnType<typeof former>, source: string): Promise<void> {
    const runId = await runningRunOf(warehouse, [row], { source });
    await answerBatch(warehouse, { runId }, () => [personOf(row)]);
    await reconcileContacts(warehouse, runId, signal);
    await endRun(warehouse, runId, 'finished', undefined);
  }

  const listed = (email: string): Promise<unknown> => addToSuppressionList(warehouse, `email:${email}`);

  it.each(['opted out', 'on the suppression list', 'put on the suppression list after the plan'])(
    'a contact loses its person if a newer suppressed row names another person (%s); an undo restores it',
    async (how) => {
      const contactId = `heir-${how.length}`;
      await enriched(former(contactId), 'crm');
      if (how === 'on the suppression list') await listed(heir(contactId).email);
      const row = { ...heir(contactId), optedOut: how === 'opted out' };
      const runId = await runningRunOf(warehouse, [row], { source: 'crm' });
      if (how === 'put on the suppression list after the plan') {
        await listed(heir(contactId).email);
        const { options } = await getRun(warehouse, runId);
        await openPage(warehouse, runId, 1, lookupRequestOf(options));
      }
      expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
      await reconcileContacts(warehouse, runId, signal);
      expect(await contact(contactId)).toBeUndefined();
      expect(await reconcileContacts(warehouse, runId, signal)).toEqual({ filled: 0, withdrawn: 0 });
      await endRun(warehouse, runId, 'finished', undefined);
      await undoRun(warehouse, runId, note, signal);
      expect(await contact(contactId)).toMatchObject({ first_name: 'Ada' });
    },
  );

  it.each([[[former, heir]], [[heir, former]]])(
    'a contact loses its person if a run has two rows of its CRM record with different people (order %#)',
    async (people) => {
      const id = `contested-${people[0] === heir ? 'heir' : 'former'}`;
      await enriched(former(id), 'crm');
      await enriched({ ...heir(id), contactId: `${id}-elsewhere` }, 'crm');
      const runId = await runningRunOf(
        warehouse,
        people.map((rowOf) => rowOf(id)),
        { source: 'crm' },
      );
      expect(await outcomesOf(warehouse, runId)).toEqual(['duplicate', 'duplicate']);
      await reconcileContacts(warehouse, runId, signal);
      expect(await contact(id)).toBeUndefined();
    },
  );

  it.each(['opted out', 'on the suppression list'])(
    'a contact keeps its person if its newer, suppressed row names the same person (%s)',
    async (how) => {
      const contactId = `same-${how.length}`;
      await enriched(former(contactId), 'crm');
      if (how === 'on the suppression list') await listed(former(contactId).email);
      const row = { ...former(contactId), optedOut: how === 'opted out' };
      const runId = await runningRunOf(warehouse, [row], { source: 'crm' });
      expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
      expect(await reconcileContacts(warehouse, runId, signal)).toEqual({ filled: 0, withdrawn: 0 });
      expect(await contact(contactId)).toMatchObject({ first_name: 'Ada' });
    },
  );
});

it('a personal e-mail on the suppression list in an answer suppresses the row and removes the answer', async () => {
  await addToSuppressionList(warehouse, 'email:ada.private@home.example');
  const row = { email: 'ada7@one.example', firstName: 'Ada', lastName: 'Seven', contactId: 'listed' };
  const runId = await runningRunOf(warehouse, [{ keys: ['email:ada7@one.example'], ...row }]);
  const { attemptId } = await answerBatch(warehouse, { runId }, () => [
    {
      id: 'P7',
      first_name: 'Ada',
      last_name: 'Seven',
      email: 'ada7@one.example',
      personal_emails: ['Ada.Private@home.example'],
    },
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
  const row = {
    firstName: 'Ada',
    lastName: 'Eight',
    organizationName: 'Orbit',
    keys: ['name:ada eight|orbit'],
  };
  const rows = [
    row,
    { ...row, contactId: 'again' },
    { ...row, lastName: 'Nine', keys: ['name:ada nine|orbit'] },
  ];
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
  const ada = { keys: ['email:ada@at-once.example'], email: 'ada@at-once.example', firstName: 'Ada' };
  const zoe = { keys: ['email:zoe@at-once.example'], email: 'zoe@at-once.example', firstName: 'Zoe' };
  const runs = [];
  for (const row of [ada, zoe])
    runs.push(
      await runningRunOf(warehouse, [{ ...row, lastName: 'Novak', contactId: 'at-once' }], {
        source: 'crm',
      }),
    );
  for (const [index, { email, firstName }] of [
    [1, zoe],
    [0, ada],
  ] as const) {
    const person = { id: `P-${email}`, first_name: firstName, last_name: 'Novak', email };
    await answerBatch(warehouse, { runId: runs[index]! }, () => [person]);
    await reconcileContacts(warehouse, runs[index]!, signal);
    await endRun(warehouse, runs[index]!, 'finished', undefined);
    expect(await contact('at-once')).toMatchObject({ first_name: 'Zoe' });
  }
  await undoRun(warehouse, runs[1]!, note, signal);
  expect(await contact('at-once')).toMatchObject({ first_name: 'Ada' });
  await revertUndo(warehouse, runs[1]!, signal);
  expect(await contact('at-once')).toMatchObject({ first_name: 'Zoe' });
});

describe('the contact of an undone run when the undo is reverted', () => {
  const ada = {
    keys: ['email:ada@revert.example'],
    email: 'ada@revert.example',
    firstName: 'Ada',
    lastName: 'Novak',
    contactId: 'reverted',
  };

  async function runOf(row: typeof ada, source: string, found: boolean): Promise<string> {
    const freshness = { enrichedSeconds: 0, notFoundSeconds: 0 };
    const runId = await runningRunOf(warehouse, [row], { source, freshness });
    const person = { id: `P-${row.email}`, first_name: row.firstName, last_name: 'Novak', email: row.email };
    await answerBatch(warehouse, { runId }, () => [found ? person : null]);
    await reconcileContacts(warehouse, runId, signal);
    await endRun(warehouse, runId, 'finished', undefined);
    return runId;
  }

  it('completing an interrupted revert restores all contacts, although another run reconciled in between', async () => {
    const first = await runOf(ada, 'crm-1', true);
    const second = await runOf({ ...ada, contactId: 'reverted-too' }, 'crm-2', true);
    const decisions = () =>
      warehouse.pool.query(
        `select contact_id, person_key, evidence, asked, run_id, row_number
         from contacts where contact_id like 'reverted%' order by contact_id`,
      );
    const { rows: before } = await decisions();
    await undoRun(warehouse, first, note, signal);
    expect(await revertUndo(warehouse, first, AbortSignal.abort())).toMatchObject({ complete: false });
    await reconcileContacts(warehouse, second, signal);
    await revertUndo(warehouse, first, signal);
    expect((await decisions()).rows).toEqual(before);
  });

  /** A contact that the run `own` gives to another person. The run `other` gives its first person another contact. */
  async function becomesAnother(name: string) {
    const row = (first: string, contactId: string) => {
      const email = `${first}@${name}.example`;
      return { ...ada, email, keys: [`email:${email}`], contactId };
    };
    await runOf(row('ada', name), `${name}-1`, true);
    await runOf(row('zoe', `${name}-zoe`), `${name}-2`, true);
    const own = await runOf(row('zoe', name), `${name}-1`, true);
    const other = await runOf(row('ada', `${name}-ada`), `${name}-2`, true);
    const decisions = async () => {
      return warehouse.query`
        select contact_id, person_key, evidence, asked, run_id, row_number
        from contacts where contact_id like ${name} || '%' order by contact_id`;
    };
    return { own, other, decisions, before: await decisions() };
  }

  it('completing an interrupted revert restores all contacts, although another revert ran in between', async () => {
    const { own, other, decisions, before } = await becomesAnother('half');
    for (const runId of [own, other]) await undoRun(warehouse, runId, note, signal);
    expect(await revertUndo(warehouse, own, AbortSignal.abort())).toMatchObject({ complete: false });
    await revertUndo(warehouse, other, signal);
    await revertUndo(warehouse, own, signal);
    expect(await decisions()).toEqual(before);
  });
});

it('erasing the person of the newest row does not give the contact the person of an older row again', async () => {
  const ada = { email: 'ada@erased.example', firstName: 'Ada', lastName: 'Novak', contactId: 'inherited' };
  const zoe = { email: 'zoe@erased.example', firstName: 'Zoe', lastName: 'Quist', contactId: 'inherited' };
  for (const row of [ada, zoe]) {
    const runId = await runningRunOf(warehouse, [{ keys: [`email:${row.email}`], ...row }]);
    await reconcileContacts(warehouse, runId, signal);
    const person = { id: 'P-erased', first_name: 'Ada', last_name: 'Novak', email: ada.email };
    await answerBatch(warehouse, { runId }, () => [row === ada ? person : null]);
    await endRun(warehouse, runId, 'finished', undefined);
  }
  expect(await contact('inherited')).toBeUndefined();
  await erase(warehouse, [`email:${zoe.email}`], note);
  expect(await rebuild(warehouse, { check: true, signal })).toMatchObject({ differing: [] });
  expect(await contact('inherited')).toBeUndefined();
});
