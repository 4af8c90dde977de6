import { describe, expect, it } from 'vitest';
import { rebuild } from '../../../src/people/rebuild.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerBatch, runningRunOf, readContact } from '../../helpers/warehouse/scripted-calls.ts';

const { signal } = new AbortController();
const note = { by: 'test', reason: undefined };
const warehouse = await warehouseOfFile({ keepsPlans: true });
const contact = (contactId: string) => readContact(warehouse, contactId);

it('a contact of two runs gets the person of the later begun run, even when the other run ends last', async () => {
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

describe('a contact of a run whose undo is taken back', () => {
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

  it('a reverted undo restores the decision of a contact although another run decides meanwhile', async () => {
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

  /** A contact that `own` makes somebody else. Other contacts are these people, one of them by `other`. */
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

  it('a reverted undo restores the decision of a contact although another undo is reverted meanwhile', async () => {
    const { own, other, decisions, before } = await becomesAnother('half');
    for (const runId of [own, other]) await undoRun(warehouse, runId, note, signal);
    expect(await revertUndo(warehouse, own, AbortSignal.abort())).toMatchObject({ complete: false });
    await revertUndo(warehouse, other, signal);
    await revertUndo(warehouse, own, signal);
    expect(await decisions()).toEqual(before);
  });
});

it('a contact whose new person is erased does not become its former person again', async () => {
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
