import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decidePerson } from '../../src/domain/identity/decide-person.ts';
import { identityKeys } from '../../src/domain/identity/identity-keys.ts';
import {
  isOnePerson,
  readyIdentity,
  readyPerson,
  type ComparedIdentity,
} from '../../src/domain/identity/identity-evidence.ts';
import type { Person } from '../../src/domain/identity/person.ts';
import { reconcileContacts } from '../../src/runs/reconcile-contacts.ts';
import { endRun } from '../../src/runs/finish-run.ts';
import { revertUndo, undoRun } from '../../src/runs/undo-run.ts';
import { openTestWarehouse } from '../helpers/database/database.ts';
import type { TestWarehouse } from '../helpers/database/test-warehouse.ts';
import { alignCall } from '../helpers/invented/align-call.ts';
import { identityWorld, type IdentityWorld, type WorldRow } from '../helpers/invented/identity-world.ts';
import { answerBatch, runningRunOf } from '../helpers/warehouse/scripted-calls.ts';

/** The same few cases in the suite; `npm run property:identity` draws others each time. */
const chosen = process.env['IDENTITY_CASES'] ?? process.env['IDENTITY_SEQUENCES'];
const cases = Number(process.env['IDENTITY_CASES'] ?? 200);
const sequences = Number(process.env['IDENTITY_SEQUENCES'] ?? 3);
const given = process.env['IDENTITY_SEED'];
const drawn = chosen === undefined ? { seed: 7 } : {};
/** Making a failure smaller takes minutes: `IDENTITY_SEED=…` repeats it and does so. */
const seed = given === undefined ? { ...drawn, endOnFailure: true } : { seed: Number(given) };

const longTest = { timeout: 3_600_000 };

/** Numbers by which exports, rows, batches and answers are ordered. */
const order = fc.array(fc.nat({ max: 1_000 }), { minLength: 24, maxLength: 24 });

function shuffled<Value>(values: readonly Value[], numbers: readonly number[], salt: number): Value[] {
  return values
    .map((value, index) => ({
      value,
      key: (numbers[(index + salt) % numbers.length]! * 7919 + index * 31) % 1_009,
    }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ value }) => value);
}

/** What the service returns for a call: reordered, and with misses as null or dropped. */
function answerOf(
  world: IdentityWorld,
  asked: readonly WorldRow[],
  numbers: readonly number[],
  salt: number,
): (Person | null)[] {
  const matches = asked.flatMap((row) => world.answer(row));
  return shuffled(matches, numbers, salt).filter(
    (person) => person !== null || numbers[salt % numbers.length]! % 2 === 0,
  );
}

/** The rows whom a run asks for: the first of those that a chain of shared keys connects. */
function withoutRepeated(rows: readonly WorldRow[]): WorldRow[] {
  let people: { readonly first: WorldRow; readonly keys: readonly string[] }[] = [];
  for (const row of rows) {
    const own = identityKeys(row.identity);
    const joined = people.filter(({ keys }) => keys.some((key) => own.includes(key)));
    const person = { first: joined[0]?.first ?? row, keys: [...own, ...joined.flatMap(({ keys }) => keys)] };
    const at = joined[0] ? people.indexOf(joined[0]) : people.length;
    people = [...people.slice(0, at), person, ...people.slice(at + 1)].filter(
      (each) => !joined.includes(each),
    );
  }
  return people.map(({ first }) => first);
}

/** Which person each contact is; plays what the warehouse does, in memory. */
class Play {
  readonly contacts = new Map<WorldRow, Person>();
  readonly #world: IdentityWorld;
  readonly #numbers: readonly number[];
  readonly #rows: { readonly row: WorldRow; readonly compared: ComparedIdentity }[] = [];
  readonly #asked = new Set<WorldRow>();
  readonly people: Person[] = [];
  /** The numbers of the calls that returned the people. */
  readonly #calls: number[] = [];
  /** The rows that a person without an id was accepted for: only these find the person again. */
  readonly #owners = new Map<Person, WorldRow>();

  constructor(world: IdentityWorld, numbers: readonly number[]) {
    this.#world = world;
    this.#numbers = numbers;
    for (const source of sourcesOf(world, numbers)) {
      const staged = world.rows.filter((row) => row.source === source);
      this.#rows.push(...staged.map((row) => ({ row, compared: readyIdentity(row.identity) })));
      this.#call(shuffled(withoutRepeated(staged), numbers, 3));
      this.#decide([...this.contacts.keys()], 'withdraw');
      this.#decide(
        this.#rows.map(({ row }) => row),
        'fill',
      );
    }
  }

  #call(rows: readonly WorldRow[]): void {
    const numbers = this.#numbers;
    for (let at = 0, size = 1; at < rows.length; at += size) {
      size = 1 + (numbers[at % numbers.length]! % 4);
      const batch = rows.slice(at, at + size);
      const matches = answerOf(this.#world, batch, numbers, at);
      const { rows: aligned } = alignCall(
        batch.map(({ identity }) => identity),
        matches,
        {
          candidatesOf: (index) => this.#candidates(batch[index]!),
          othersOf: (index) => this.#others(batch[index]!),
        },
      );
      const call = (this.#calls.at(-1) ?? 0) + 1;
      for (const person of matches) {
        if (person === null) continue;
        this.people.push(person);
        this.#calls.push(call);
      }
      for (const [index, each] of aligned.entries()) {
        this.#asked.add(batch[index]!);
        if (each.outcome !== 'enriched') continue;
        this.contacts.set(batch[index]!, each.person);
        if (!each.person.id) this.#owners.set(each.person, batch[index]!);
      }
      this.#decide([...this.contacts.keys()], 'withdraw');
    }
  }

  #candidates(row: WorldRow) {
    return this.people.flatMap((person, index) =>
      person.id || this.#owners.get(person) === row
        ? [{ person: readyPerson(person), askedAt: this.#calls[index]!, of: person }]
        : [],
    );
  }

  /** A row counts as asked for if a call has asked under one of its keys. */
  #wasAsked(row: WorldRow): boolean {
    const keys = identityKeys(row.identity);
    return [...this.#asked].some(({ identity }) => identityKeys(identity).some((key) => keys.includes(key)));
  }

  #others(row: WorldRow): ComparedIdentity[] {
    return this.#rows.flatMap((other) => (other.row === row ? [] : [other.compared]));
  }

  #decide(rows: readonly WorldRow[], mode: 'withdraw' | 'fill'): void {
    for (const row of rows) {
      const candidates = this.#candidates(row);
      const surroundings = {
        candidates,
        others: () => this.#others(row),
        wasAsked: this.#wasAsked(row),
      };
      const decision = decidePerson(readyIdentity(row.identity), surroundings);
      const person = decision.kind === 'person' ? candidates[decision.index]!.of : undefined;
      const current = this.contacts.get(row);
      const isSame = person && current && isOnePerson(readyPerson(person), readyPerson(current));
      if (isSame) continue;
      if (person && mode === 'fill') this.contacts.set(row, person);
      else this.contacts.delete(row);
    }
  }
}

function sourcesOf(world: IdentityWorld, numbers: readonly number[]): string[] {
  return shuffled([...new Set(world.rows.map(({ source }) => source))], numbers, 0);
}

function pairsOf(world: IdentityWorld, contacts: ReadonlyMap<WorldRow, Person>): string[] {
  return [...contacts].map(([row, person]) => `${row.contactId} is ${world.humanOf(person)}`).sort();
}

it('identity across calls is correct, and independent of the order and batches of rows', longTest, () => {
  let [pairs, told] = [0, 0];
  fc.assert(
    fc.property(identityWorld, order, order, (world, one, other) => {
      const { contacts, people } = new Play(world, one);
      if (world.canBeTold(people)) {
        const wrong = [...contacts].filter(([row, person]) => world.humanOf(person) !== row.human);
        expect(wrong).toEqual([]);
        told += contacts.size;
      }
      pairs += contacts.size;
      // People without an id are known only to the rows of their own call, and calls depend on the order.
      if (people.every(({ id }) => id))
        expect(pairsOf(world, new Play(world, other).contacts)).toEqual(pairsOf(world, contacts));
    }),
    { numRuns: cases, ...seed },
  );
  expect(pairs).toBeGreaterThan(cases / 2);
  expect(told).toBeGreaterThan(cases / 10);
});

describe('identity across calls, in the warehouse', () => {
  const { signal } = new AbortController();
  let warehouse: TestWarehouse;

  beforeAll(async () => {
    warehouse = await openTestWarehouse({ keepsPlans: true });
  });

  afterAll(() => warehouse.close());

  /** In an order in which nothing refers to a deleted row. */
  const tables = (
    'changes, contact_matches, contact_records, contact_keys, person_keys, person_history, digest_queue, people, ' +
    'organization_values, prune_candidates, observation_log, ' +
    'organization_facts, ' +
    'claims, run_people, attempt_people, raw_answers, attempts, lookup_history, lookup_runs, run_rows, runs'
  ).split(', ');

  async function clear(): Promise<void> {
    // Of the few rows in them: a truncation makes new files for 17 tables and their indexes, which takes longer.
    await warehouse.pool.query(tables.map((table) => `delete from ${table}`).join('; '));
  }

  /** Puts the people of a run into batches of other sizes and in another order. @returns how many batches */
  async function rebatch(runId: string, numbers: readonly number[]): Promise<number> {
    const rows = await warehouse.query<{ row_number: number }>`
      delete from run_people where run_id = ${runId} returning row_number`;
    let [batch, size] = [0, 0];
    for (const [index, { row_number: rowNumber }] of shuffled(rows, numbers, 3).entries()) {
      if (size > numbers[index]! % 4) [batch, size] = [batch + 1, 0];
      await warehouse.query`
        insert into run_people (run_id, position, row_number)
        values (${runId}, ${batch * 10 + size}, ${rowNumber})`;
      size += 1;
    }
    return rows.length === 0 ? 0 : batch + 1;
  }

  /** Plays the run of one export. @returns its id */
  async function playRun(world: IdentityWorld, source: string, numbers: readonly number[]): Promise<string> {
    const rows = world.rows.filter((row) => row.source === source);
    const runId = await runningRunOf(
      warehouse,
      rows.map(({ contactId, identity }) => ({ keys: identityKeys(identity), contactId, ...identity })),
      { source, freshness: { enrichedSeconds: 0, notFoundSeconds: 0 } },
    );
    const batches = await rebatch(runId, numbers);
    await reconcileContacts(warehouse, runId, signal);
    for (let batch = 1; batch <= batches; batch += 1)
      await answerBatch(warehouse, { runId, batch }, (asked) =>
        answerOf(
          world,
          asked.map(({ contactId }) => rows.find((row) => row.contactId === contactId)!),
          numbers,
          batch,
        ),
      );
    await reconcileContacts(warehouse, runId, signal);
    await endRun(warehouse, runId, 'finished', undefined);
    return runId;
  }

  async function pairs(): Promise<string[]> {
    const rows = await warehouse.query<{ contact_id: string; title: string }>`
      select contact_id, title from enriched_contacts order by contact_id`;
    return rows.map(({ contact_id: contactId, title }) => `${contactId} is ${title.slice('human '.length)}`);
  }

  it(
    'identity in the warehouse is independent of the order, also after an undo and its revert',
    longTest,
    async () => {
      await fc.assert(
        fc.asyncProperty(identityWorld, order, order, async (world, one, other) => {
          await clear();
          const { contacts, people } = new Play(world, one);
          fc.pre(people.every(({ id }) => id));
          const expected = pairsOf(world, contacts);
          let last = '';
          for (const source of sourcesOf(world, one)) last = await playRun(world, source, one);
          expect(await pairs()).toEqual(expected);
          await undoRun(warehouse, last, { by: 'test', reason: undefined }, signal);
          const undone = await warehouse.query`
            select 1 from enriched_contacts where source = (select source from runs where run_id = ${last})`;
          expect(undone).toEqual([]);
          await revertUndo(warehouse, last, signal);
          expect(await pairs()).toEqual(expected);

          await clear();
          for (const source of sourcesOf(world, other)) await playRun(world, source, other);
          expect(await pairs()).toEqual(expected);
        }),
        { numRuns: sequences, ...seed },
      );
    },
  );
});
