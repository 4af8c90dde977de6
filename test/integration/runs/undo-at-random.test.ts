import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contactFields } from '../../../src/domain/identity/field-groups.ts';
import { writeLateEmails, writePhones } from '../../../src/people/contact-phones.ts';
import { upsertContacts } from '../../../src/people/contacts.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { endRun, getRun } from '../../../src/runs/runs.ts';
import { lockSuppressionsShared } from '../../../src/privacy/suppressions.ts';
import { undo } from '../../../src/runs/undo-run.ts';
import { openTestWarehouse, type TestWarehouse } from '../../helpers/database.ts';
import { stagedRun } from '../../helpers/rows.ts';

const note = { by: 'somebody', reason: undefined };
const tables = ['enriched_contacts', 'contact_phones', 'contact_journal'];
let warehouse: TestWarehouse;
let clock = Date.parse('2026-11-21T08:00:00Z');

beforeAll(async () => {
  warehouse = await openTestWarehouse({ connections: 8 });
});

afterAll(() => warehouse.drop());

interface WrittenRun {
  readonly runId: string;
  readonly askedAt: string;
  readonly people: readonly { readonly contactId: string; readonly personId: string }[];
}

/** Four records of a CRM that runs take for any of three people, in an order that a seed decides. */
class Story {
  readonly #seed: number;
  #state: number;
  readonly #contactIds: readonly string[];
  readonly people: readonly string[];
  readonly runs: WrittenRun[] = [];

  constructor(seed: number) {
    this.#seed = seed;
    this.#state = seed;
    this.#contactIds = [0, 1, 2, 3].map((number) => `story-${seed}-contact-${number}`);
    this.people = ['ada', 'bo', 'cy'].map((name) => `story-${seed}-${name}`);
  }

  /** A whole number from 0, below the limit. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (this.#state >> 8) % limit;
  }

  async next(): Promise<void> {
    const choice = this.below(10);
    if (choice < 4 || this.runs.length === 0) await this.#answer();
    else if (choice < 8) await this.#late(this.#someRun());
    else await this.undoSome();
  }

  async #answer(): Promise<void> {
    const people = this.#contactIds
      .filter(() => this.below(3) > 0)
      .map((contactId) => ({ contactId, personId: this.people[this.below(3)]! }));
    // Now and then an answer comes after one that was asked for later.
    clock += this.below(4) === 0 ? -30_000 : 60_000;
    const askedAt = new Date(clock).toISOString();
    const { runId } = await stagedRun(
      warehouse,
      people.map(({ contactId }) => ({ keys: [], contactId, outcome: 'enriched' })),
    );
    const contacts = people.map(({ personId }, index) => ({
      rowNumber: index + 1,
      fields: { ...contactFields({ id: personId }), email: `${personId}@answer.example` },
    }));
    await warehouse.database.transaction().execute(async (transaction) => {
      await lockSuppressionsShared(transaction);
      await upsertContacts(transaction, {
        source: 'generic',
        runId,
        attemptId: runId,
        asOf: askedAt,
        contacts,
      });
    });
    await endRun(warehouse, runId, 'finished', undefined);
    this.runs.push({ runId, askedAt, people });
  }

  async #late({ runId, askedAt, people }: WrittenRun): Promise<void> {
    const found = people.filter(() => this.below(3) > 0);
    const number = this.below(4);
    await warehouse.database.transaction().execute(async (transaction) => {
      await lockSuppressionsShared(transaction);
      const undone = (await getRun(warehouse, runId)).undone !== null;
      const given = found.map(({ contactId, personId }) => ({
        contact: {
          source: 'generic',
          contactId,
          personId,
          runId,
          rowNumber: 1,
          attemptId: runId,
          askedAt,
          emails: [],
          undone,
        },
        person: {
          phones: [this.#phone(personId, number), this.#phone(personId, 0)],
          emails: [{ email: `${personId}@late-${number}.example`, status: 'verified' }],
        },
      }));
      await writePhones(transaction, { deliveryId: 'd', origin: 'waterfall' }, given);
      await writeLateEmails(transaction, given);
    });
  }

  /** Nobody else has it. */
  #phone(personId: string, position: number): Parameters<typeof writePhones>[2][0]['person']['phones'][0] {
    const sanitizedNumber = `+1415555${this.people.indexOf(personId)}10${position}`;
    const unsaid = { rawNumber: undefined, type: undefined, status: undefined, dncStatus: undefined };
    return { ...unsaid, sanitizedNumber, confidence: undefined, position };
  }

  #someRun(): WrittenRun {
    return this.runs[this.below(this.runs.length)]!;
  }

  undoSome(): Promise<{ readonly leftAlone: number }> {
    return undo(warehouse, this.#someRun().runId, note, new AbortController().signal);
  }

  /** Undoes every run, the newest first, again and again until nothing is left alone. */
  async undoAll(): Promise<void> {
    for (let left = 1; left > 0;) {
      left = 0;
      for (const { runId } of this.runs.toReversed())
        left += (await undo(warehouse, runId, note, new AbortController().signal)).leftAlone;
    }
  }

  /** Contacts with an address or a number of somebody else. */
  async mixedUp(): Promise<unknown[]> {
    const { rows } = await warehouse.pool.query<object>(
      `select contact_id, person_id, email, phone from enriched_contacts c
       where contact_id like $1 and (split_part(email, '@', 1) <> person_id or phone is not null and not exists (
         select 1 from contact_phones p where (p.contact_id, p.number, p.person_id) = (c.contact_id, c.phone, c.person_id)))`,
      [`story-${this.#seed}-%`],
    );
    return rows;
  }

  /** Where a text of the story is found. */
  async traces(text = `story-${this.#seed}-`): Promise<unknown[]> {
    const found = await Promise.all(
      tables.map((table) =>
        warehouse.pool.query(`select 1 from ${table} t where t::text like $1`, [`%${text}%`]),
      ),
    );
    return tables.filter((_, index) => found[index]!.rowCount !== 0);
  }
}

describe('runs, late results and undoings in any order, six at once', { timeout: 60_000 }, () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'mix nobody up, bring nobody back who was erased, and leave nothing once all is undone (seed %i)',
    async (seed) => {
      const story = new Story(seed);
      for (let step = 0; step < 6; step += 1) {
        await Promise.all(Array.from({ length: 6 }, () => story.next()));
        expect(await story.mixedUp()).toEqual([]);
      }
      const [erased] = story.people;
      await Promise.all([story.undoSome(), erase(warehouse, [`person:${erased}`], note), story.undoSome()]);
      expect(await story.traces(erased)).toEqual([]);
      await story.undoAll();
      expect(await story.traces()).toEqual([]);
    },
  );
});
