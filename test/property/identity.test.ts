import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decidePerson } from '../../src/domain/identity/decide-person.ts';
import { identityKeys } from '../../src/domain/identity/identity-keys.ts';
import {
  areSamePerson,
  toComparedIdentity,
  toComparedPerson,
  type ComparedIdentity,
} from '../../src/domain/identity/identity-evidence.ts';
import type { Person } from '../../src/domain/identity/person.ts';
import { reconcileContacts } from '../../src/runs/reconcile-contacts.ts';
import { revertUndo, undoRun } from '../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../helpers/database/database.ts';
import { alignCall } from '../helpers/invented/align-call.ts';
import { answerBatch, runningRunOf, endPlayedRun } from '../helpers/warehouse/scripted-calls.ts';
import type { Identity } from '../../src/domain/identity/identity.ts';
import { testNote, neverFresh, noSignal } from '../helpers/warehouse/rows.ts';

/** A contact of an export with the human that it really is. */
interface WorldRow {
  readonly source: string;
  readonly contactId: string;
  readonly human: number;
  readonly identity: Identity;
}

/** The people that the service returns for a row: the person that it finds, and sometimes an additional person. */
type WorldAnswer = (asked: WorldRow) => (Person | null)[];

/**
 * A few people with shared names, shared family e-mails, reassigned e-mails, wrong profile URLs, missing ids and job
 * changes, and the exports that have them as rows.
 */
interface IdentityWorld {
  readonly rows: readonly WorldRow[];
  readonly answer: WorldAnswer;
  /** Returns the human that a person of an answer really is. */
  readonly humanOf: (person: Person) => number;
  /**
   * True if exports and answers suffice to distinguish each row from other people. Otherwise the rule can be wrong, but
   * must give the same result in every order.
   *
   * @param named all people in the answers to the calls of the test
   */
  canBeTold(named: readonly Person[]): boolean;
}

const employers = ['Orbit', 'Fjord'];
const domainOf = (employer: number): string => `${employers[employer]!.toLowerCase()}.example`;

const human = fc.record({
  first: fc.constantFrom('Ada', 'Ben', 'Cleo'),
  last: fc.constantFrom('Novak', 'Okoro'),
  employer: fc.nat(1),
  /** True if the export still has the previous employer of the human. */
  hasMoved: fc.boolean(),
  hasProfile: fc.boolean(),
  hasId: fc.nat(5).map((number) => number > 0),
  home: fc.constantFrom('own', 'family', 'none'),
  /** True if the service returns a placeholder in place of the work e-mail. */
  isAddressHidden: fc.boolean(),
  /** True if the work e-mail belonged to another human before. */
  hasRecycledAddress: fc.boolean(),
  /** Another human that the service returns together with this one; often a namesake. */
  companion: fc.option(fc.nat(), { freq: 2 }),
});

const sources = ['one', 'two', 'three'] as const;

const anyRow = fc.record({
  human: fc.nat(),
  source: fc.constantFrom(...sources),
  address: fc.constantFrom('work', 'former', 'home', 'none'),
  hasProfile: fc.boolean(),
  /** Index of another human if the row has the profile URL of this human by mistake. */
  wrongProfile: fc.option(fc.nat(), { freq: 5 }),
  hasName: fc.boolean(),
  hasInitial: fc.boolean(),
});

type Human = typeof human extends fc.Arbitrary<infer Value> ? Value : never;
type Row = typeof anyRow extends fc.Arbitrary<infer Value> ? Value : never;

const identityWorld: fc.Arbitrary<IdentityWorld> = fc
  .tuple(
    fc.array(human, { minLength: 2, maxLength: 6 }),
    fc.array(anyRow, { minLength: 2, maxLength: 10 }),
    // Answers for the rows of this source have no ids. With a fixed source, the order of calls does not decide which
    // people have ids.
    fc.option(fc.constantFrom(...sources), { freq: 1 }),
  )
  .map(([humans, rows, withoutIds]) => worldOf(humans, rows, withoutIds));

function worldOf(humans: readonly Human[], shapes: readonly Row[], withoutIds: string | null): IdentityWorld {
  const all = [...humans.keys()];
  const namesakesOf = (at: number): number[] =>
    all.filter(
      (other) =>
        other !== at &&
        humans[other]!.first === humans[at]!.first &&
        humans[other]!.last === humans[at]!.last,
    );

  const workOf = (at: number): string => {
    const { first, employer } = humans[at]!;
    return `${first}${at}@${domainOf(employer)}`.toLowerCase();
  };
  const formerOf = (at: number): string => `former${at}@${domainOf(1 - humans[at]!.employer)}`;
  const homeOf = (at: number): string | undefined => {
    const { home, last } = humans[at]!;
    if (home === 'none') return undefined;
    return home === 'own' ? `own${at}@home.example` : `${last}@home.example`.toLowerCase();
  };
  const profileOf = (at: number): string | undefined =>
    humans[at]!.hasProfile ? `linkedin.com/in/human-${at}` : undefined;
  const addressesOf = (at: number): string[] => [
    workOf(at),
    ...(humans[at]!.hasRecycledAddress && at > 0 ? [formerOf(at - 1)] : []),
    ...(homeOf(at) === undefined ? [] : [homeOf(at)!]),
  ];

  const personOf = (at: number): Person => {
    const { first, last, employer, hasMoved, hasId, isAddressHidden } = humans[at]!;
    return {
      id: hasId ? `p${at}` : null,
      first_name: first,
      last_name: last,
      email: isAddressHidden ? 'email_not_unlocked@domain.com' : workOf(at),
      personal_emails: addressesOf(at).slice(1),
      proflink_url: profileOf(at) ?? null,
      title: `human ${at}`,
      organization: { name: employers[employer]!, primary_domain: domainOf(employer) },
      employment_history: hasMoved ? [{ organization_name: employers[1 - employer]!, current: false }] : [],
    };
  };
  const foundBy = (asked: Identity): number | undefined =>
    all.find((at) => asked.profileUrl !== undefined && profileOf(at) === asked.profileUrl) ??
    all.find((at) => asked.email !== undefined && addressesOf(at).includes(asked.email)) ??
    // Of several namesakes the service finds only one.
    all.findLast(
      (at) => humans[at]!.last === asked.lastName && humans[at]!.first.startsWith(asked.firstName ?? '-'),
    );
  const answer: WorldAnswer = ({ identity, source }) => {
    const found = foundBy(identity);
    if (found === undefined) return [null];
    const { companion } = humans[found]!;
    return [found, ...(companion === null ? [] : [companion % humans.length])].map((at) => ({
      ...personOf(at),
      ...(source === withoutIds && { id: null }),
    }));
  };

  const rows = shapes.map((shape, index): WorldRow => {
    const at = shape.human % humans.length;
    const { first, last, employer, hasMoved } = humans[at]!;
    const email = { work: workOf(at), former: formerOf(at), home: homeOf(at), none: undefined }[
      shape.address
    ];
    const profile = shape.wrongProfile === null ? at : shape.wrongProfile % humans.length;
    const profileUrl = shape.hasProfile ? profileOf(profile) : undefined;
    const isIdentified = email !== undefined || profileUrl !== undefined;
    const isNamed = shape.hasName || !isIdentified;
    return {
      source: shape.source,
      contactId: `c${index}`,
      human: at,
      identity: {
        ...(email !== undefined && { email }),
        ...(profileUrl !== undefined && { profileUrl }),
        ...(isNamed && {
          firstName: shape.hasInitial && isIdentified ? first[0]! : first,
          lastName: last,
          organizationName: employers[hasMoved ? 1 - employer : employer]!,
        }),
      },
    };
  });

  /**
   * True if no identifier of the row leads to another human, unless the name contradicts; two identifiers must not
   * agree on another human either.
   */
  const isOwnIdentifier = ({ human: at, identity: { email, profileUrl, lastName } }: WorldRow): boolean =>
    all.every((other) => {
      if (other === at) return true;
      const hasAddress = email !== undefined && addressesOf(other).includes(email);
      const hasProfile = profileUrl !== undefined && profileUrl === profileOf(other);
      const isContradicted = lastName !== undefined && humans[other]!.first !== humans[at]!.first;
      return isContradicted ? !(hasAddress && hasProfile) : !hasAddress && !hasProfile;
    });
  return {
    rows,
    answer,
    humanOf: ({ title }) => Number(title!.slice('human '.length)),
    // Rows cannot be distinguished if no answer shows that several people have one name. Only people with an id are
    // remembered for other calls.
    canBeTold: (named) => {
      const titles = new Set(named.flatMap(({ id, title }) => (id ? [title] : [])));
      const isNamed = (at: number): boolean => titles.has(`human ${at}`);
      return rows.every(
        (each) => isOwnIdentifier(each) && [each.human, ...namesakesOf(each.human)].every(isNamed),
      );
    },
  };
}

/** The suite plays the same few cases each time; `npm run property:identity` draws new ones. */
const chosen = process.env['IDENTITY_CASES'] ?? process.env['IDENTITY_SEQUENCES'];
const cases = Number(process.env['IDENTITY_CASES'] ?? 100);
const sequences = Number(process.env['IDENTITY_SEQUENCES'] ?? 2);
const given = process.env['IDENTITY_SEED'];
const drawn = chosen === undefined ? { seed: 7 } : {};
/** `IDENTITY_SEED=…` repeats a failed case and makes it smaller, which takes minutes. */
const seed = given === undefined ? { ...drawn, endOnFailure: true } : { seed: Number(given) };

const longTest = { timeout: 3_600_000 };

/** Random numbers that determine the order of exports, rows, batches and answers. */
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

/** Returns the service's answer to a call: reordered, with misses either as null or left out. */
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

/** Returns the rows that a run looks up: the first row of each group that shared keys connect. */
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

/** Assigns people to contacts in memory, as the warehouse does in its tables. */
class Play {
  readonly contacts = new Map<WorldRow, Person>();
  readonly #world: IdentityWorld;
  readonly #numbers: readonly number[];
  readonly #rows: { readonly row: WorldRow; readonly compared: ComparedIdentity }[] = [];
  readonly #asked = new Set<WorldRow>();
  readonly people: Person[] = [];
  /** The number of the call that returned each person. */
  readonly #calls: number[] = [];
  /** For each person without an id, the row that accepted the person: only this row finds the person again. */
  readonly #owners = new Map<Person, WorldRow>();

  constructor(world: IdentityWorld, numbers: readonly number[]) {
    this.#world = world;
    this.#numbers = numbers;
    for (const source of sourcesOf(world, numbers)) {
      const staged = world.rows.filter((row) => row.source === source);
      this.#rows.push(...staged.map((row) => ({ row, compared: toComparedIdentity(row.identity) })));
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
        ? [{ person: toComparedPerson(person), askedAt: this.#calls[index]!, of: person }]
        : [],
    );
  }

  /** A row counts as looked up if a call has looked up one of its keys. */
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
      const decision = decidePerson(toComparedIdentity(row.identity), surroundings);
      const person = decision.kind === 'person' ? candidates[decision.index]!.of : undefined;
      const current = this.contacts.get(row);
      const isSame = person && current && areSamePerson(toComparedPerson(person), toComparedPerson(current));
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

it(
  'the identity rules give each contact its own person, in every order and batch size of the rows',
  longTest,
  () => {
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
        // A person without an id is known only to the rows of its call, and the order decides which rows share a call.
        if (people.every(({ id }) => id))
          expect(pairsOf(world, new Play(world, other).contacts)).toEqual(pairsOf(world, contacts));
      }),
      { numRuns: cases, ...seed },
    );
    expect(pairs).toBeGreaterThan(cases / 2);
    expect(told).toBeGreaterThan(cases / 10);
  },
);

const warehouse = await warehouseOfFile({ keepsPlans: true });

/** Tables in an order in which no remaining row refers to a deleted row. */
const tables = (
  'changes, contact_matches, contact_records, contact_keys, person_keys, person_history, digest_queue, people, ' +
  'observation_log, organization_facts, claims, run_people, attempt_people, raw_answers, attempts, ' +
  'lookup_history, lookup_runs, run_rows, runs'
).split(', ');

async function clear(): Promise<void> {
  // Deletes the few rows. A truncation would create new files for 17 tables and their indexes, which takes longer.
  await warehouse.pool.query(tables.map((table) => `delete from ${table}`).join('; '));
}

/** Puts the people of a run into batches of other sizes and in another order. @returns the number of batches */
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

/** Plays the run of one export. @returns the id of the run */
async function playRun(world: IdentityWorld, source: string, numbers: readonly number[]): Promise<string> {
  const rows = world.rows.filter((row) => row.source === source);
  const runId = await runningRunOf(
    warehouse,
    rows.map(({ contactId, identity }) => ({ contactId, ...identity })),
    { source, freshness: neverFresh },
  );
  const batches = await rebatch(runId, numbers);
  await reconcileContacts(warehouse, runId, noSignal);
  for (let batch = 1; batch <= batches; batch += 1)
    await answerBatch(warehouse, { runId, batch }, (asked) =>
      answerOf(
        world,
        asked.map(({ contactId }) => rows.find((row) => row.contactId === contactId)!),
        numbers,
        batch,
      ),
    );
  await endPlayedRun(warehouse, runId);
  return runId;
}

async function assigned(): Promise<string[]> {
  const rows = await warehouse.query<{ contact_id: string; title: string }>`
    select contact_id, title from enriched_contacts order by contact_id`;
  return rows.map(({ contact_id: contactId, title }) => `${contactId} is ${title.slice('human '.length)}`);
}

it(
  'the order of calls does not change the person of a contact, also after an undo and its revert',
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
        expect(await assigned()).toEqual(expected);
        await undoRun(warehouse, last, testNote, noSignal);
        const undone = await warehouse.query`
          select 1 from enriched_contacts where source = (select source from runs where run_id = ${last})`;
        expect(undone).toEqual([]);
        await revertUndo(warehouse, last, noSignal);
        expect(await assigned()).toEqual(expected);

        await clear();
        for (const source of sourcesOf(world, other)) await playRun(world, source, other);
        expect(await assigned()).toEqual(expected);
      }),
      { numRuns: sequences, ...seed },
    );
  },
);
