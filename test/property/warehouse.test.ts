import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuild } from '../../src/people/rebuild.ts';
import { endRun } from '../../src/runs/runs.ts';
import { revertUndo, undoRun } from '../../src/runs/undo-run.ts';
import { appendContact, type AppendedContact } from '../helpers/append-contact.ts';
import { openTestWarehouse, type TestWarehouse } from '../helpers/database.ts';
import { stagedRun } from '../helpers/rows.ts';

const sequences = Number(process.env['SEQUENCES'] ?? 15);
const { signal } = new AbortController();
let warehouse: TestWarehouse;
let runs: readonly string[];

beforeAll(async () => {
  warehouse = await openTestWarehouse();
  const staged = await Promise.all([0, 1, 2].map(() => stagedRun(warehouse, [])));
  runs = staged.map(({ runId }) => runId);
  for (const runId of runs) await endRun(warehouse, runId, 'finished', undefined);
});

afterAll(() => warehouse.drop());

const text = fc.constantFrom('a', 'b', null);
const answer = fc.record({
  kind: fc.constant('answer' as const),
  run: fc.nat(2),
  contact: fc.nat(2),
  source: fc.constantFrom('one', 'two'),
  minute: fc.nat(5),
  id: fc.constantFrom('p1', 'p2', null),
  title: text,
  city: text,
  company: fc.constantFrom('o1', 'o2', null),
  industry: text,
  email: fc.constantFrom('a@x.example', 'b@x.example', null),
  phones: fc.constantFrom([], ['+14155550100'], ['+14155550101', '+14155550102']),
});
const mark = fc.record({ kind: fc.constantFrom('undo' as const, 'revert' as const), run: fc.nat(2) });
type Answer = typeof answer extends fc.Arbitrary<infer Value> ? Value : never;
type Step = Answer | (typeof mark extends fc.Arbitrary<infer Value> ? Value : never);

const anyStep = fc.oneof(answer, answer, answer, mark) as fc.Arbitrary<Step>;

async function play(step: Step): Promise<void> {
  const runId = runs[step.run]!;
  if ('contact' in step) await appendContact(warehouse, contactOf(step, runId));
  else if (step.kind === 'undo') await undoRun(warehouse, runId, { by: 'test', reason: undefined }, signal);
  else await revertUndo(warehouse, runId, signal);
}

function contactOf(step: Answer, runId: string): AppendedContact {
  return {
    source: step.source,
    contactId: `c${step.contact}`,
    runId,
    rowNumber: step.contact + 1,
    askedAt: `2026-11-20T08:0${step.minute}:00Z`,
    person: {
      id: step.id,
      first_name: 'Ann',
      title: step.title,
      city: step.city,
      email: step.email,
      organization: step.company && { id: step.company, name: step.company, industry: step.industry },
    },
    ...(step.phones.length > 0 && { phones: step.phones }),
  };
}

async function clear(): Promise<void> {
  await warehouse.pool.query(
    'truncate observations, contact_matches, contact_records, people, organizations, contacts, changes',
  );
  await warehouse.pool.query('update runs set undone_at = null');
}

/** Everything that is computed from the log, but for the numbers of its entries. */
async function contents(table: string): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await warehouse.pool.query<Record<string, unknown>>(
    `select t.* from ${table} t order by t::text`,
  );
  return rows;
}

/** Fed from the changes: what each change left is what the contact is afterwards. */
async function feed(replica: Map<string, unknown>, after: string): Promise<string> {
  const { rows } = await warehouse.pool.query<{ id: string; operation: string; key: string; row: unknown }>(
    `select change_id as id, operation, f.source || ' ' || f.contact_id as key, to_jsonb(c) as row
     from changes f left join enriched_contacts c using (source, contact_id)
     where change_id > $1 order by change_id`,
    [after],
  );
  for (const { operation, key, row } of rows) {
    if (operation === 'delete') replica.delete(key);
    else replica.set(key, row);
  }
  return rows.at(-1)?.id ?? after;
}

describe(
  'the warehouse, after any sequence of answers, late phones, undos and reverts',
  () => {
    it('equals a rebuild, agrees about each person, and equals a replica that is fed from its changes', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { maxLength: 8 }), async (steps) => {
          await clear();
          const replica = new Map<string, unknown>();
          let cursor = '0';
          for (const step of steps) {
            await play(step);
            cursor = await feed(replica, cursor);
          }
          expect(await rebuild(warehouse, { check: true, signal })).toMatchObject({
            differing: [],
            complete: true,
          });

          const { rows } = await warehouse.pool.query<{ key: string; row: unknown }>(
            `select source || ' ' || contact_id as key, to_jsonb(c) as row from enriched_contacts c`,
          );
          expect(new Map(rows.map(({ key, row }) => [key, row]))).toEqual(replica);

          const disagreeing = await warehouse.pool.query(
            `select person_id from enriched_contacts where person_id is not null group by person_id
           having count(distinct (email, title, city, organization_name, phone, enriched_at)) > 1`,
          );
          expect(disagreeing.rows).toEqual([]);
        }),
        { numRuns: sequences },
      );
    });

    it('is without an undone run as if the run had never been, and with it again after a revert', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(answer, { maxLength: 8 }), fc.nat(2), async (steps, run) => {
          const computed = async (): Promise<unknown> =>
            (await contents('enriched_contacts')).map((contact) => ({ ...contact, person_key: undefined }));
          await clear();
          for (const step of steps) if (step.run !== run) await play(step);
          const without = await computed();
          await clear();
          for (const step of steps) await play(step);
          const whole = await contents('people');
          await play({ kind: 'undo', run });
          expect(await computed()).toEqual(without);
          await play({ kind: 'revert', run });
          expect(await contents('people')).toEqual(whole);
        }),
        { numRuns: sequences },
      );
    });
  },
  24 * 3_600_000,
);
