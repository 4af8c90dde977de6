import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contactFields, type ContactFields } from '../../../src/domain/identity/field-groups.ts';
import { writePhones } from '../../../src/people/contact-phones.ts';
import { upsertContacts } from '../../../src/people/contacts.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { planRows } from '../../../src/runs/plan.ts';
import { prune } from '../../../src/privacy/prune.ts';
import { countLookups, forgetAsked } from '../../../src/people/lookup-history.ts';
import { readRunFacts } from '../../../src/runs/run-facts.ts';
import { endRun, getRun } from '../../../src/runs/runs.ts';
import { suppress } from '../../../src/privacy/suppressions.ts';
import { measureUndo, undo, undoneRunsLeft } from '../../../src/runs/undo-run.ts';
import { openTestWarehouse, type TestWarehouse } from '../../helpers/database.ts';
import { everything } from '../../helpers/everything.ts';
import {
  callWithPhones,
  deliverTo,
  phonesBody,
  recordPhonesAnswer,
  type PhonesCall,
} from '../../helpers/late-calls.ts';
import { asked, outcomesOf, stagedRun } from '../../helpers/rows.ts';

const note = { by: 'somebody', reason: 'the wrong file' };
const noSignal = new AbortController().signal;
const nothing = { removed: 0, restored: 0, withheld: 0, leftAlone: 0, leftAloneBy: {}, complete: true };
let warehouse: TestWarehouse;
let clock = Date.parse('2026-11-21T08:00:00Z');

beforeAll(async () => {
  warehouse = await openTestWarehouse();
});

afterAll(() => warehouse.drop());

type Given = readonly [contactId: string, fields: Partial<ContactFields>];

const noPhone = {
  rawNumber: undefined,
  type: undefined,
  status: undefined,
  dncStatus: undefined,
  confidence: undefined,
};

/** Of whom nothing is known. */
const blank = contactFields({ id: 'x' });

/** A run that has ended and was, until now, the last to write these contacts. */
async function runThatWrote(...contacts: readonly Given[]): Promise<string> {
  const { runId } = await stagedRun(
    warehouse,
    contacts.map(([contactId]) => ({ keys: [`person:${contactId}`], contactId, outcome: 'enriched' })),
  );
  await write(runId, contacts);
  await endRun(warehouse, runId, 'finished', undefined);
  return runId;
}

async function write(runId: string, contacts: readonly Given[]): Promise<void> {
  clock += 60_000;
  const asOf = new Date(clock).toISOString();
  await warehouse.database.transaction().execute((transaction) =>
    upsertContacts(transaction, {
      source: 'generic',
      runId,
      attemptId: `attempt of ${runId}`,
      asOf,
      contacts: contacts.map(([, fields], index) => ({
        rowNumber: index + 1,
        fields: { ...blank, person_id: 'p', ...fields },
      })),
    }),
  );
}

/** A late result of a run gives one of its contacts these numbers. */
async function deliver(
  runId: string,
  contactId: string,
  personId: string,
  ...numbers: readonly string[]
): Promise<void> {
  const contact = { source: 'generic', contactId, personId, runId, rowNumber: 1, attemptId: 'a', emails: [] };
  const phones = numbers.map((number, position) => ({ ...noPhone, sanitizedNumber: number, position }));
  const askedAt = new Date(clock).toISOString();
  await warehouse.database
    .transaction()
    .execute((transaction) =>
      writePhones(transaction, { deliveryId: 'd', origin: 'reveal' }, [
        { contact: { ...contact, askedAt, undone: false }, person: { phones } },
      ]),
    );
}

function takeBack(runId: string): ReturnType<typeof undo> {
  return undo(warehouse, runId, note, noSignal);
}

/** Contacts and phones as they are, in every column. */
async function contents(contactIds?: readonly string[]): Promise<unknown> {
  const rows = async (table: string): Promise<unknown> =>
    (
      await warehouse.pool.query(
        `select t.* from ${table} t where $1::text[] is null or contact_id = any($1) order by t::text`,
        [contactIds ?? null],
      )
    ).rows;
  return { contacts: await rows('enriched_contacts'), phones: await rows('contact_phones') };
}

async function valueOf(contactId: string, column: string): Promise<unknown> {
  const { rows } = await warehouse.pool.query(`select * from enriched_contacts where contact_id = $1`, [
    contactId,
  ]);
  return (rows[0] as Record<string, unknown> | undefined)?.[column];
}

/** A run of its own, ended, whose three people have contacts and phones. */
async function endedCall(): Promise<PhonesCall> {
  const call = await callWithPhones(warehouse);
  await recordPhonesAnswer(warehouse, call);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  await endRun(warehouse, call.runId, 'finished', undefined);
  return call;
}

describe('a run that is undone', () => {
  it('leaves nothing of the contacts that it created, nor of their phones', async () => {
    const before = await contents();
    const call = await endedCall();
    const measured = await measureUndo(warehouse, call.runId);
    expect(measured).toMatchObject({ removed: 3, restored: 0, leftAlone: 0 });
    expect(await takeBack(call.runId)).toEqual({ ...measured, complete: true });
    expect(await contents()).toEqual(before);
  });

  it('gives the contacts that it changed their former values in every column, and their phones theirs', async () => {
    const call = await endedCall();
    const ids = ['all-columns'];
    await runThatWrote(['all-columns', { first_name: 'Ada' }]);
    const columns = await warehouse.pool.query<{ name: string; type: string; table: string }>(
      `select column_name as name, udt_name as type, table_name as table from information_schema.columns
       where table_schema = 'enrichment' and table_name in ('enriched_contacts', 'contact_phones')
         and column_name not in ('source', 'contact_id', 'run_id', 'number')`,
    );
    const change = async (runId: string, round: number): Promise<void> => {
      const values: Record<string, string> = {
        text: `'${round}'`,
        _text: `'{a,${round}}'`,
        int4: String(round),
        timestamptz: `'2026-01-0${round} 01:02:03.456789+00'`,
      };
      for (const table of ['enriched_contacts', 'contact_phones']) {
        const set = columns.rows
          .filter((column) => column.table === table)
          .map(({ name, type }) =>
            name === 'origin'
              ? `origin = '${['', 'reveal', 'waterfall'][round]}'`
              : `${name} = ${values[type]}`,
          );
        await warehouse.pool.query(
          `update ${table} set run_id = $2, ${set.join(', ')} where contact_id = $1`,
          [ids[0], runId],
        );
      }
    };
    await warehouse.pool.query(
      `insert into contact_phones select source, 'all-columns', person_id, number, e164, raw_number, type, status, dnc_status,
         confidence, position, origin, attempt_id, run_id, delivery_id, asked_at from contact_phones where run_id = $1 limit 1`,
      [call.runId],
    );
    const earlier = await stagedRun(warehouse, []);
    await change(earlier.runId, 1);
    const before = await contents(ids);
    const { runId } = await stagedRun(warehouse, []);
    await change(runId, 2);
    await endRun(warehouse, runId, 'finished', undefined);
    expect(await contents(ids)).not.toEqual(before);

    expect(await takeBack(runId)).toMatchObject({ removed: 0, restored: 1 });
    expect(await contents(ids)).toEqual(before);
  });

  it('is undone once: the second time nothing is left', async () => {
    const runId = await runThatWrote(['once', { title: 'CTO' }]);
    await takeBack(runId);
    const { undone } = await getRun(warehouse, runId);
    expect(await takeBack(runId)).toEqual(nothing);
    expect(await getRun(warehouse, runId)).toMatchObject({ undone });
    expect(undone).toMatchObject(note);
  });

  it('keeps outcomes, calls and credits', async () => {
    const call = await endedCall();
    const before = await readRunFacts(warehouse, call.runId);
    await takeBack(call.runId);
    const after = await readRunFacts(warehouse, call.runId);
    expect(after).toEqual({ ...before, undone: { at: expect.any(String), ...note } });
    expect(after.credits.settled).toBe('27');
  });

  it('has ended: one that goes on is refused', async () => {
    const { runId } = await stagedRun(warehouse, []);
    await expect(takeBack(runId)).rejects.toThrow('has not ended');
    expect((await getRun(warehouse, runId)).undone).toBeNull();
  });

  it('after being stopped goes on with the rest', async () => {
    const { runId } = await stagedRun(warehouse, []);
    await warehouse.pool.query(
      `insert into enriched_contacts (source, contact_id, enriched_at, run_id, attempt_id, row_number)
       select 'many', 'many-' || n, now(), $1, 'a', n from generate_series(1, 5000) n`,
      [runId],
    );
    await endRun(warehouse, runId, 'finished', undefined);
    const stopped = new AbortController();
    // Stops it after its first batch: the signal is looked at before each.
    let looks = 0;
    const signal = {
      get aborted() {
        return ++looks > 1;
      },
    } as AbortSignal;
    const first = await undo(warehouse, runId, note, signal);
    expect(first).toMatchObject({ complete: false });
    expect(first.removed).toBeGreaterThan(0);
    const second = await undo(warehouse, runId, note, stopped.signal);
    expect(first.removed + second.removed).toBe(5_000);
    expect(second.complete).toBe(true);
  });

  it('by two at once is undone once', async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `twice-${index}`);
    const runId = await runThatWrote(...ids.map((id): Given => [id, { title: 'CTO' }]));
    const both = await Promise.all([takeBack(runId), takeBack(runId)]);
    expect(both[0].removed + both[1].removed).toBe(300);
    expect(await contents(ids)).toEqual({ contacts: [], phones: [] });
  });
});

describe('a contact that another run has written since', () => {
  it('is left alone, and it is said by which run', async () => {
    const first = await runThatWrote(['shared', { title: 'CTO' }], ['own', { title: 'CTO' }]);
    const second = await runThatWrote(['shared', { title: 'CEO' }]);
    const left = { removed: 1, leftAlone: 1, leftAloneBy: { [second]: 1 } };
    expect(await measureUndo(warehouse, first)).toMatchObject(left);
    expect(await takeBack(first)).toMatchObject(left);
    expect(await valueOf('shared', 'title')).toBe('CEO');
    expect(await valueOf('own', 'title')).toBeUndefined();
  });

  it('can be taken back after the other run was: the last one first, down to nothing', async () => {
    const runs = [];
    for (const title of ['CTO', 'CEO', 'CFO']) runs.push(await runThatWrote(['stack', { title }]));
    const [first, second, third] = runs as [string, string, string];
    expect(await takeBack(first)).toMatchObject({ leftAlone: 1, leftAloneBy: { [second]: 1, [third]: 1 } });
    await takeBack(third);
    expect(await valueOf('stack', 'title')).toBe('CEO');
    expect(await undoneRunsLeft(warehouse, third)).toContain(first);
    await takeBack(second);
    expect(await valueOf('stack', 'title')).toBe('CTO');
    expect(await takeBack(first)).toMatchObject({ removed: 1, leftAlone: 0 });
    expect(await valueOf('stack', 'title')).toBeUndefined();
  });

  it('by a late result of an earlier run is left alone as well, until that run is undone', async () => {
    const call = await callWithPhones(warehouse);
    await recordPhonesAnswer(warehouse, call);
    await endRun(warehouse, call.runId, 'finished', undefined);
    const { rows } = await warehouse.pool.query<{ contact_id: string; person_id: string }>(
      'select contact_id, person_id from enriched_contacts where run_id = $1 order by 1',
      [call.runId],
    );
    clock = Date.now();
    const later = await runThatWrote(
      ...rows.map(({ contact_id, person_id }): Given => [contact_id, { person_id, title: 'CEO' }]),
    );
    const ids = rows.map(({ contact_id }) => contact_id);
    const before = await contents(ids);
    await deliverTo(warehouse, call, phonesBody(call.ids, 24));
    expect(await valueOf(ids[0]!, 'phone')).toBe('+14155550100');

    expect(await takeBack(later)).toMatchObject({
      restored: 0,
      leftAlone: 3,
      leftAloneBy: { [call.runId]: 3 },
    });
    expect(await takeBack(call.runId)).toMatchObject({
      restored: 3,
      leftAlone: 3,
      leftAloneBy: { [later]: 3 },
    });
    expect(await contents(ids)).toEqual(before);
    expect(await takeBack(later)).toMatchObject({ restored: 3, leftAlone: 0 });
    expect(await takeBack(call.runId)).toMatchObject({ removed: 3, leftAlone: 0 });
    expect(await contents(ids)).toEqual({ contacts: [], phones: [] });
  });

  it('as somebody else is theirs again, with the numbers that came for them meanwhile', async () => {
    const call = await callWithPhones(warehouse);
    await recordPhonesAnswer(warehouse, call);
    await endRun(warehouse, call.runId, 'finished', undefined);
    const { rows } = await warehouse.pool.query<{ contact_id: string }>(
      'select contact_id from enriched_contacts where run_id = $1 order by 1',
      [call.runId],
    );
    const ids = rows.map(({ contact_id }) => contact_id);
    clock = Date.now();
    const wrong = await runThatWrote(...ids.map((id): Given => [id, { person_id: `wrong-${id}` }]));
    await deliver(wrong, ids[0]!, `wrong-${ids[0]}`, '+14155550199');
    await deliverTo(warehouse, call, phonesBody(call.ids, 24));

    expect(await takeBack(wrong)).toMatchObject({ restored: 3, leftAlone: 0 });
    const phones = await Promise.all(ids.map((id) => valueOf(id, 'phone')));
    expect(phones).toEqual(['+14155550100', '+14155550101', '+14155550102']);
    expect(await valueOf(ids[0]!, 'person_id')).toBe(call.ids[0]);
    expect(await takeBack(call.runId)).toMatchObject({ removed: 3, leftAlone: 0 });
    expect(await contents(ids)).toEqual({ contacts: [], phones: [] });
  });

  it('while the earlier run is being undone ends as the other run wrote it', async () => {
    const ids = Array.from({ length: 200 }, (_, index) => `beside-${index}`);
    const given = (title: string): Given[] => ids.map((id): Given => [id, { title }]);
    const earlier = await runThatWrote(...given('CTO'));
    const { runId: later } = await stagedRun(
      warehouse,
      ids.map((id) => ({ keys: [], contactId: id, outcome: 'enriched' })),
    );
    await Promise.all([takeBack(earlier), write(later, given('CEO'))]);
    const { rows } = await warehouse.pool.query(
      `select distinct run_id, title from enriched_contacts where contact_id = any($1)`,
      [ids],
    );
    expect(rows).toEqual([{ run_id: later, title: 'CEO' }]);
    await endRun(warehouse, later, 'finished', undefined);
    await takeBack(later);
    await takeBack(earlier);
    expect(await contents(ids)).toEqual({ contacts: [], phones: [] });
  });
});

describe('what comes late for a run that is undone', () => {
  it('is stored and settled, and changes no contact', async () => {
    const call = await callWithPhones(warehouse);
    await recordPhonesAnswer(warehouse, call);
    await endRun(warehouse, call.runId, 'finished', undefined);
    await takeBack(call.runId);
    const before = await contents();
    await deliverTo(warehouse, call, phonesBody(call.ids, 24));
    expect(await contents()).toEqual(before);
    const { rows } = await warehouse.pool.query(
      `select d.status, d.reason, trim_scale(a.credits_settled)::text as settled
       from webhook_deliveries d join attempts a using (attempt_id) where a.attempt_id = $1`,
      [call.attemptId],
    );
    expect(rows).toEqual([
      { status: 'applied', reason: expect.stringContaining('its run is undone'), settled: '27' },
    ]);
  });

  it('is no answer either: a call that was recorded after all writes no contact', async () => {
    const call = await callWithPhones(warehouse);
    await warehouse.pool.query(`update run_rows set outcome = 'unknown' where run_id = $1`, [call.runId]);
    await endRun(warehouse, call.runId, 'finished', undefined);
    await takeBack(call.runId);
    const before = await contents();
    await recordPhonesAnswer(warehouse, call);
    expect(await contents()).toEqual(before);
    expect(await outcomesOf(warehouse, call.runId)).toEqual(['enriched', 'enriched', 'enriched']);
  });

  it('and is written by a worker of the release before is taken back by undoing it again', async () => {
    const runId = await runThatWrote(['old-worker', { title: 'CTO' }]);
    await takeBack(runId);
    await warehouse.pool.query(
      `insert into enriched_contacts (source, contact_id, enriched_at, run_id, attempt_id, row_number)
       values ('generic', 'old-worker', now(), $1, 'a', 1)`,
      [runId],
    );
    expect(await takeBack(runId)).toMatchObject({ removed: 1 });
  });
});

describe('who was asked', () => {
  async function again(call: PhonesCall): Promise<(string | null)[]> {
    const email = call.people[0]!.identity.email!;
    const run = await stagedRun(warehouse, [{ keys: [`email:${email}`] }]);
    await planRows(warehouse, run.runId, asked);
    return outcomesOf(warehouse, run.runId);
  }

  it('stays remembered: the same people cost nothing', async () => {
    const call = await endedCall();
    await takeBack(call.runId);
    expect(await again(call)).toEqual(['fresh']);
  });

  it('is forgotten on demand: they are asked for again', async () => {
    const call = await endedCall();
    const names = await countLookups(warehouse.database, call.runId);
    expect(names).toBeGreaterThan(0);
    expect(await forgetAsked(warehouse, call.runId)).toBe(names);
    expect(await again(call)).toEqual([null]);
  });
});

describe('former values', () => {
  const ada = { person_id: 'ada-1', email: 'ada@former.example', last_name: 'Former' };
  const bo = { person_id: 'bo-1', email: 'bo@former.example', last_name: 'Later' };

  it('of somebody who is erased are gone, and come back by no undoing', async () => {
    await runThatWrote(['record', ada]);
    const later = await runThatWrote(['record', bo]);
    expect(await everything(warehouse)).toContain(ada.email);
    expect(await erase(warehouse, [`email:${ada.email}`], note)).toMatchObject({
      contacts: 0,
      former_values: 1,
    });
    const kept = await everything(warehouse);
    expect(Object.values(ada).filter((text) => kept.includes(text))).toEqual([]);
    expect(await valueOf('record', 'email')).toBe(bo.email);
    expect(await takeBack(later)).toMatchObject({ removed: 1 });
    expect(await valueOf('record', 'email')).toBeUndefined();
  });

  it('of a contact that is erased are gone with it, its numbers too', async () => {
    const call = await endedCall();
    const { email } = call.people[0]!.identity;
    const { rows } = await warehouse.pool.query<{ contact_id: string }>(
      'select contact_id from enriched_contacts where email = $1',
      [email],
    );
    await erase(warehouse, [`email:${email}`], note);
    const left = await warehouse.pool.query('select 1 from contact_journal where contact_id = $1', [
      rows[0]!.contact_id,
    ]);
    expect(left.rows).toEqual([]);
    expect(await takeBack(call.runId)).toMatchObject({ removed: 2 });
  });

  it('of somebody who is on the suppression list by now are not written', async () => {
    await runThatWrote(['listed', { ...ada, person_id: 'ada-2', email: 'ada@listed.example' }]);
    const later = await runThatWrote(['listed', { ...bo, person_id: 'bo-2' }]);
    await warehouse.database
      .transaction()
      .execute((transaction) => suppress(transaction, ['email:ada@listed.example'], note));
    expect(await takeBack(later)).toMatchObject({ removed: 0, restored: 0, withheld: 1 });
    expect(await valueOf('listed', 'email')).toBeUndefined();
    await warehouse.pool.query('delete from suppression_entries');
  });

  it('of somebody who is on the suppression list by now are no numbers either', async () => {
    const earlier = await runThatWrote(['numbers', { person_id: 'ada-3', email: 'ada@numbers.example' }]);
    await deliver(earlier, 'numbers', 'ada-3', '+14155550100', '+14155550101');
    const later = await runThatWrote(['numbers', { person_id: 'bo-3' }]);
    await deliver(later, 'numbers', 'bo-3', '+14155550100', '+14155550102');
    await warehouse.database
      .transaction()
      .execute((transaction) => suppress(transaction, ['email:ada@numbers.example'], note));
    expect(await takeBack(later)).toMatchObject({ withheld: 1 });
    expect(await contents(['numbers'])).toEqual({ contacts: [], phones: [] });
    await warehouse.pool.query('delete from suppression_entries');
  });

  it('of a number are not written where whoever it was asked for is on the list by now', async () => {
    const call = await endedCall();
    const [person] = call.people;
    const { rows } = await warehouse.pool.query<{ contact_id: string; number: string }>(
      `select contact_id, number from contact_phones where person_id = $1`,
      [call.ids[0]],
    );
    const [{ contact_id, number }] = rows as [{ contact_id: string; number: string }];
    const { runId } = await stagedRun(warehouse, []);
    clock = Date.now() + 60_000;
    await deliver(runId, contact_id, 'somebody-else', number);
    await endRun(warehouse, runId, 'finished', undefined);
    await warehouse.database
      .transaction()
      .execute((transaction) => suppress(transaction, [`email:${person!.identity.email}`], note));
    await takeBack(runId);
    expect(await contents([contact_id])).toMatchObject({ phones: [] });
    await warehouse.pool.query('delete from suppression_entries');
  });

  it('are removed after their retention: the run can be undone no more, and says so', async () => {
    const runId = await runThatWrote(['pruned', { title: 'CTO' }]);
    await warehouse.pool.query(`update contact_journal set written_at = written_at - interval '31 days'`);
    const young = await runThatWrote(['pruned', { title: 'CEO' }]);
    await prune(warehouse, { undo: 30 * 86_400 }, noSignal);
    expect(await getRun(warehouse, runId)).toMatchObject({ journal: 'pruned' });
    expect(await getRun(warehouse, young)).toMatchObject({ journal: 'kept' });
    expect(await takeBack(young)).toMatchObject({ restored: 1 });
    expect(await valueOf('pruned', 'title')).toBe('CTO');
  });

  it('that are old stay where one below them has to stay', async () => {
    const first = await runThatWrote(['below', { title: 'CTO' }]);
    const second = await runThatWrote(['below', { title: 'CEO' }]);
    await warehouse.pool.query(
      `update contact_journal set written_at = written_at - interval '31 days' where run_id = $1`,
      [second],
    );
    await prune(warehouse, { undo: 30 * 86_400 }, noSignal);
    expect(await takeBack(first)).toMatchObject({ removed: 0, leftAloneBy: { [second]: 1 } });
  });

  it('of a run that is older than the journal are not known: nothing is changed', async () => {
    const runId = await runThatWrote(['old', { title: 'CTO' }]);
    await warehouse.pool.query(`update runs set journal = 'none' where run_id = $1`, [runId]);
    await expect(takeBack(runId)).rejects.toThrow('is not kept');
    expect(await valueOf('old', 'title')).toBe('CTO');
  });
});
