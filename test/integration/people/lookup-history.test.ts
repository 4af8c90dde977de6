import { expect, it } from 'vitest';
import { recordLateLookups } from '../../../src/people/lookup-history.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { stagedRun, insertLookup, outcomesOf } from '../../helpers/warehouse/rows.ts';
import {
  answerBatch,
  runningRunOf,
  plannedOutcomes,
  personOf,
} from '../../helpers/warehouse/scripted-calls.ts';
import { untilLockAwaited } from '../../helpers/database/contents.ts';

const warehouse = await warehouseOfFile();

it('recordLateLookups() locks rows in the order of key_hash, so that it cannot deadlock', async () => {
  const keys = Array.from({ length: 40 }, (_, index) => `email:a${index}@orbit.example`);
  const { runId } = await stagedRun(warehouse, [{ keys, email: 'a0@orbit.example', contactId: 'a' }]);
  await warehouse.query`
    insert into lookup_history (key_hash, field_group, found, asked_at, lookup_run)
    select key_hash(key, 'test'), 'phone', true, clock_timestamp(), number_lookup_run(${runId}, 'test')
    from unnest(${keys}::text[]) as key`;
  const other = await warehouse.pool.connect();
  await other.query('begin; select from lookup_history order by key_hash limit 1 for update');
  const learned = keys.map((identityKey) => ({ personKey: keys[0]!, identityKey }));
  const recorded = warehouse.database
    .transaction()
    .execute((transaction) =>
      recordLateLookups(
        transaction,
        { runId, attemptId: 'a', options: { service: 'test' } },
        { results: [], learned, ofAll: [] },
      ),
    );
  await untilLockAwaited(warehouse);
  const { rows } = await other.query('select from lookup_history for update skip locked');
  await other.query('rollback');
  other.release();
  expect(rows).toHaveLength(keys.length);
  await recorded;
});

it('a person stays fresh at a service after a later lookup at another service', async () => {
  const row = { email: 'ada@orbit.example', contactId: 'a' };
  const key = `email:${row.email}`;
  const other = 'https://other.example/api/v1';
  await insertLookup(warehouse.pool, { key, secondsAgo: 60 });
  await insertLookup(warehouse.pool, { key, service: other });
  for (const service of ['test', other])
    expect(await plannedOutcomes(warehouse, [row], { service })).toEqual(['fresh']);
});

it('a run of the same export at another service assigns the people of that service to the contacts', async () => {
  const email = 'mira.lindqvist@nordlys.example';
  const row = { email, firstName: 'Mira', lastName: 'Lindqvist', contactId: 'moved' };
  for (const service of ['test', 'https://other.example/api/v1']) {
    const runId = await runningRunOf(warehouse, [row], { source: 'hubspot', service });
    await answerBatch(warehouse, { runId }, () => [personOf(row, { id: `at ${service}` })]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['enriched']);
    const contacts = await warehouse.query`
      select service, person_id from enriched_contacts where contact_id = 'moved'`;
    expect(contacts).toEqual([{ service, person_id: `at ${service}` }]);
  }
});
