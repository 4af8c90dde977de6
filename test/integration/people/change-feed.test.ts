import { sql } from 'kysely';
import { expect, it } from 'vitest';
import {
  countOldChanges,
  newestCursor,
  pruneChanges,
  readChanges,
  type FeedEntry,
} from '../../../src/people/change-feed.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  writeMatch,
  writeObservation,
  titleFacts,
  writeContact,
} from '../../helpers/warehouse/write-facts.ts';
import { noSignal } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

async function read(since?: string, limit?: number): Promise<FeedEntry[]> {
  const found: FeedEntry[] = [];
  for await (const change of readChanges(warehouse.database, { since, limit })) found.push(change);
  return found;
}

/** Transactions of other test files on the server delay the feed. */
async function readOnce(count: number, since?: string): Promise<FeedEntry[]> {
  await expect.poll(async () => (await read(since)).length).toBe(count);
  return read(since);
}

async function rename(person: string, title: string, at: string): Promise<void> {
  await writeObservation(warehouse, { person, askedAt: at, runId: 'run-1', facts: titleFacts(title) });
}

async function newContact(person: string): Promise<string | undefined> {
  const start = await newestCursor(warehouse.database);
  const facts = titleFacts('Analyst');
  await writeContact(warehouse, { person, askedAt: '2026-01-01', runId: 'run-1', facts });
  await expect
    .poll(async () => (await read(start)).some(({ contact_id }) => contact_id === person))
    .toBe(true);
  return newestCursor(warehouse.database);
}

it('readChanges() returns the changes after a cursor, with the field groups that changed', async () => {
  const cursor = await newContact('p1');
  await rename('p1', 'Lead', '2026-02-01');
  const changes = await readOnce(1, cursor);
  expect(changes).toMatchObject([
    { operation: 'upsert', source: 'hubspot', contact_id: 'p1', groups: ['title'] },
  ]);
  expect(await read(changes[0]!.cursor)).toEqual([]);
});

it('readChanges() returns the operation "delete" for a contact that has lost its person', async () => {
  const cursor = await newContact('p2');
  await writeMatch(warehouse, { contactId: 'p2', person: null, at: '2026-02-01', runId: 'run-2' });
  expect(await readOnce(1, cursor)).toMatchObject([{ operation: 'delete', contact_id: 'p2' }]);
});

it('readChanges() returns at most as many changes as the limit, and the rest after its last cursor', async () => {
  const cursor = await newContact('p3');
  for (const [index, title] of ['A', 'B', 'C'].entries()) await rename('p3', title, `2026-02-0${index + 1}`);
  await readOnce(3, cursor);
  const first = await read(cursor, 2);
  expect(first).toHaveLength(2);
  expect(await read(first[1]!.cursor)).toHaveLength(1);
});

it('readChanges() refuses an invalid cursor', async () => {
  await expect(read('yesterday')).rejects.toMatchObject({ type: 'changes.cursor-invalid', exitCode: 2 });
});

it('readChanges() refuses a cursor beyond the end of the feed, as after a restore', async () => {
  const cursor = await newContact('p8');
  await expect(read(`${BigInt(cursor!) + 1_000_000n}`)).rejects.toMatchObject({
    type: 'changes.cursor-ahead',
    exitCode: 2,
  });
});

it('readChanges() refuses a cursor if retention has removed changes after it', async () => {
  const cursor = await newContact('p5');
  await rename('p5', 'Lead', '2026-02-01');
  await rename('p5', 'Head', '2026-03-01');
  const [kept] = (await readOnce(2, cursor)).slice(-1);
  const tomorrow = sql<Date>`now() + interval '1 day'`;
  const old = await countOldChanges(warehouse, tomorrow);
  expect(old).toBeGreaterThan(1);
  expect(await pruneChanges(warehouse, sql<null>`null::timestamptz`, noSignal)).toBe(0);
  expect(await pruneChanges(warehouse, tomorrow, noSignal)).toBe(old);
  expect(await countOldChanges(warehouse, tomorrow)).toBe(0);
  await expect(read(cursor)).rejects.toMatchObject({ type: 'changes.cursor-too-old', exitCode: 2 });
  expect(await read(kept!.cursor)).toEqual([]);
  await expect(read()).rejects.toMatchObject({
    type: 'changes.cursor-too-old',
    next: expect.stringContaining('enrich export --output FILE --json') as string,
    exitCode: 2,
  });
});
