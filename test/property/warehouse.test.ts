import { randomInt } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readChanges } from '../../src/people/change-feed.ts';
import { measurePrune, prune } from '../../src/privacy/prune.ts';
import { reconcileContacts } from '../../src/runs/reconcile-contacts.ts';
import { revertUndo, undoRun } from '../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../helpers/database/database.ts';
import { readAllTablesAsText, expectRebuildEqual } from '../helpers/database/contents.ts';
import {
  stepSequences,
  type WorldStep,
  openWorlds,
  type World,
} from '../helpers/invented/warehouse-world.ts';
import { testNote, noSignal } from '../helpers/warehouse/rows.ts';

/**
 * The suite plays the same few sequences each time; `npm run property:warehouse` draws new ones. `SEED=7 SEQUENCES=100`
 * plays a hundred sequences from seed 7 on; `SHRINK=1` makes failed sequences smaller.
 */
const chosen = process.env['SEQUENCES'];
const sequences = Number(chosen ?? 9);
const firstSeed = Number(process.env['SEED'] ?? (chosen === undefined ? 8 : randomInt(2 ** 31)));
const endOnFailure = process.env['SHRINK'] === undefined;
/** Number of sequences that share a database. Each sequence has people, contacts and runs of its own. */
const perDatabase = 100;
/** Number of sequences that are played at the same time, in transactions that overlap. */
const atOnce = 3;
const warehouse = await warehouseOfFile();

/** Draws after which steps retention removes all that it may, in all sequences of a database at once. */
const retention = fc.array(fc.boolean(), { minLength: 6, maxLength: 6 });

/** Plays sequences in one database after another until the number of sequences is reached. */
async function forDatabases(
  property: (all: readonly (readonly WorldStep[])[], isPruned: readonly boolean[]) => Promise<void>,
): Promise<void> {
  const together = fc.array(stepSequences, {
    minLength: 1,
    maxLength: Math.min(sequences, perDatabase),
    size: 'max',
  });
  let played = 0;
  const counted = fc.asyncProperty(together, retention, async (all, isPruned) => {
    played += all.length;
    await property(all, isPruned);
  });
  for (let seed = firstSeed; played < sequences; seed += 1)
    try {
      await fc.assert(counted, { numRuns: 1, seed, endOnFailure });
      if (sequences > perDatabase) console.info(`${played} sequences`);
    } catch (cause) {
      throw new Error(`${played} sequences; SEED=${seed} SEQUENCES=${sequences} plays the last ones again`, {
        cause,
      });
    }
}

/** Processes each item, several at the same time. */
async function forEach<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<unknown>,
): Promise<void> {
  const left = items.entries();
  const takeItems = async (): Promise<void> => {
    for (const [index, item] of left) await work(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, takeItems));
}

/** The contacts of a reader that follows the feed `changes`, and the reader's position in the feed. */
interface Replica {
  readonly contacts: Map<string, unknown>;
  cursor: string | undefined;
}

async function follow(replica: Replica): Promise<void> {
  const changed = new Map<string, 'upsert' | 'delete'>();
  for await (const change of readChanges(warehouse.database, { since: replica.cursor, limit: undefined })) {
    replica.cursor = change.cursor;
    changed.set(`${change.source} ${change.contact_id}`, change.operation);
  }
  const contacts = await contactsNow();
  for (const [key, operation] of changed)
    if (operation === 'delete') replica.contacts.delete(key);
    else replica.contacts.set(key, contacts.get(key));
}

async function contactsNow(): Promise<Map<string, object>> {
  const rows = await warehouse.query<{ key: string; row: object }>`
    select source || ' ' || contact_id as key, to_jsonb(c) as row from enriched_contacts c`;
  return new Map(rows.map(({ key, row }) => [key, row]));
}

async function projections(): Promise<readonly string[]> {
  const rows = await warehouse.query<{ row: string }>`
    select to_jsonb(p)::text as row from people p
    union all select (to_jsonb(c) - 'match_id')::text from contacts c
    union all select to_jsonb(o)::text from organizations o
    order by 1`;
  return rows.map(({ row }) => row);
}

async function expectNothingReplaced(): Promise<void> {
  expect(await measurePrune(warehouse, { observations: 0 })).toMatchObject({ observations: { count: 0 } });
}

async function expectOneValueForEachPerson(): Promise<void> {
  const rows = await warehouse.query`
    select person_id from enriched_contacts c where person_id is not null group by person_id
    having count(distinct to_jsonb(c) - '{source,contact_id,run_id,row_number}'::text[]) > 1`;
  expect(rows).toEqual([]);
}

/** Expects that no table has the name of an erased person. */
async function expectForgotten(worlds: readonly World[]): Promise<void> {
  const rows = await warehouse.query<{ body: Buffer; is_answer: boolean }>`
    select body_gzip as body, true as is_answer from raw_answers
    union all select body, false from webhook_deliveries where body is not null`;
  const bodies = rows.map((row) => (row.is_answer ? gunzipSync(row.body) : row.body).toString());
  const lines = [...(await readAllTablesAsText(warehouse)).split('\n'), ...bodies];
  const text = lines.join('\n');
  const found = worlds.flatMap((world, index) =>
    world
      .erasedTexts()
      .filter((erased) => text.includes(erased))
      .map((erased) => ({ index, erased, line: lines.find((line) => line.includes(erased)) })),
  );
  expect(found).toEqual([]);
}

/** Undoes a run of each world and reverts the undo. A person suppressed before the revert does not come back. */
async function expectUndoIsReverted(worlds: readonly World[]): Promise<void> {
  const rows = await warehouse.query<{ run_id: string }>`
    select run_id from runs
    where undone_at is null and exists (select from run_rows r where r.run_id = runs.run_id)`;
  const ended = new Set(rows.map((row) => row.run_id));
  // Decides about all changed contacts, as every run does at its end.
  for (const { runs } of worlds)
    for (const runId of runs.filter((run) => ended.has(run)))
      await reconcileContacts(warehouse, runId, noSignal);
  const whole = await projections();
  const undone = worlds.flatMap((world, index) => {
    const written = world.runs.filter((runId) => ended.has(runId));
    return world.hasSuppressed() ? [] : (written[index % written.length] ?? []);
  });
  for (const runId of undone) await undoRun(warehouse, runId, testNote, noSignal);
  await expectRebuildEqual(warehouse);
  for (const runId of undone) await revertUndo(warehouse, runId, noSignal);
  expect(await projections()).toEqual(whole);
}

const timeout = 24 * 3_600_000;

it(
  'after random steps the warehouse equals a rebuild and a replica of the feed, without erased people',
  { timeout },
  () =>
    forDatabases(async (all, isPruned) => {
      const worlds = await openWorlds(warehouse, all.length);
      const replica: Replica = { contacts: new Map(), cursor: undefined };
      const longest = Math.max(...all.map((steps) => steps.length));
      for (let round = 0; round < longest; round += 1) {
        await forEach(worlds, async (world, index) => {
          const step = all[index]![round];
          if (step) await world.play(step);
        });
        await follow(replica);
        if (!isPruned[round]) continue;
        const whole = await projections();
        await prune(warehouse, { answers: 0, deliveries: 0, observations: 0, changes: 0 }, noSignal);
        expect(await projections()).toEqual(whole);
        await expectNothingReplaced();
      }
      expect(replica.contacts).toEqual(await contactsNow());
      await expectRebuildEqual(warehouse);
      await expectOneValueForEachPerson();
      await expectForgotten(worlds);
      await expectUndoIsReverted(worlds);
    }),
);
