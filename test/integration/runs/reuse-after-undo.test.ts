import { describe, expect, it } from 'vitest';
import { askedBy } from '../../../src/runs/pages.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { keyOfId } from '../../../src/people/log/observation.ts';
import { reuseForLeftOut } from '../../../src/people/log/reuse-observations.ts';
import { lockLog } from '../../../src/people/rebuild.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { undoRun } from '../../../src/runs/undo-run.ts';
import { appendContact } from '../../helpers/warehouse/append-contact.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  callWithPhones,
  deliverTo,
  onlyPhones,
  phonesBody,
  recordPhonesAnswer,
  rowsOf,
  type LateExtras,
  type PhonesCall,
} from '../../helpers/warehouse/late-calls.ts';
import { outcomesOf, stagedRun } from '../../helpers/warehouse/rows.ts';
import { endedCall, noExtras } from '../../helpers/warehouse/ended-calls.ts';

const warehouse = await warehouseOfFile();

async function undo(runId: string): Promise<void> {
  await undoRun(warehouse, runId, { by: 'somebody', reason: undefined }, new AbortController().signal);
}

/** A planned run with the people of a call, whom it need not ask for. */
async function plannedRunOf(call: PhonesCall, extras: LateExtras): Promise<string> {
  const { runId } = await stagedRun(warehouse, rowsOf(call));
  await warehouse.query`update runs set options = options || ${extras}::jsonb where run_id = ${runId}`;
  await planRows(warehouse, runId, askedBy((await getRun(warehouse, runId)).options));
  expect(await outcomesOf(warehouse, runId)).toEqual(['fresh', 'fresh', 'fresh']);
  return runId;
}

async function runWithPeopleOf(call: PhonesCall, extras: LateExtras): Promise<string> {
  const runId = await plannedRunOf(call, extras);
  await reconcileContacts(warehouse, runId, new AbortController().signal);
  await endRun(warehouse, runId, 'finished', undefined);
  return runId;
}

/** A finished run that found the people of a call as well, without phones. */
async function runThatFound(
  { people, ids }: PhonesCall,
  { service = 'test', askedAt = new Date() }: { service?: string; askedAt?: Date } = {},
): Promise<void> {
  const { runId } = await stagedRun(
    warehouse,
    people.map(({ contactId }) => ({ keys: [], contactId, outcome: 'enriched' })),
  );
  for (const [index, { contactId, identity }] of people.entries())
    await appendContact(warehouse, {
      contactId,
      runId,
      rowNumber: index + 1,
      service,
      askedAt: askedAt.toISOString(),
      person: { id: ids[index]!, first_name: identity.firstName, last_name: identity.lastName },
    });
  await endRun(warehouse, runId, 'finished', undefined);
}

/** Observations of undone runs that later runs use. */
async function reusedObservations({ ids }: PhonesCall): Promise<readonly object[]> {
  return warehouse.query<object>`
    select run_id, origin_observation_id
    from observations where kind = 'reused' and person_id = any(${ids}) order by 2`;
}

async function countFilled(column: 'phone' | 'email', { people }: PhonesCall): Promise<number> {
  const { rows } = await warehouse.pool.query<{ filled: number }>(
    `select count(${column})::int as filled from enriched_contacts where contact_id = any($1)`,
    [people.map(({ contactId }) => contactId)],
  );
  return rows[0]!.filled;
}

const phonesOf = (call: PhonesCall): Promise<number> => countFilled('phone', call);

it('a late result of an undone run reaches the contacts of a run that uses its answers', async () => {
  const call = await endedCall(warehouse);
  await undo(call.runId);
  const again = await runWithPeopleOf(call, onlyPhones);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  expect(await phonesOf(call)).toBe(3);
  await undo(again);
  expect(await phonesOf(call)).toBe(0);
});

it('a run that leaves out phones because an undone run has paid for them gets these phones', async () => {
  const call = await endedCall(warehouse);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  await undo(call.runId);
  await runThatFound(call);
  await runWithPeopleOf(call, noExtras);
  expect(await phonesOf(call)).toBe(0);
  await runWithPeopleOf(call, onlyPhones);
  expect(await phonesOf(call)).toBe(3);
  const reused = await reusedObservations(call);
  expect(reused).toHaveLength(3);
  await runWithPeopleOf(call, onlyPhones);
  expect(await reusedObservations(call)).toEqual(reused);
});

describe('a contact that another service has found as well', () => {
  const serviceOf = async ({ people }: PhonesCall): Promise<readonly (string | null)[]> => {
    const { rows } = await warehouse.pool.query<{ service: string }>(
      'select distinct service from enriched_contacts where contact_id = any($1)',
      [people.map(({ contactId }) => contactId)],
    );
    return rows.map(({ service }) => service);
  };

  it('after an undo, the same run brings the person of its service back from kept answers', async () => {
    const call = await callWithPhones(warehouse, noExtras);
    await runThatFound(call, { service: 'another', askedAt: new Date('2026-01-01T00:00:00Z') });
    await recordPhonesAnswer(warehouse, call);
    await endRun(warehouse, call.runId, 'finished', undefined);
    expect(await serviceOf(call)).toEqual(['test']);
    await undo(call.runId);
    expect(await serviceOf(call)).toEqual(['another']);
    const again = await runWithPeopleOf(call, noExtras);
    expect(await serviceOf(call)).toEqual(['test']);
    await undo(again);
    expect(await serviceOf(call)).toEqual(['another']);
  });
});

it('two runs that leave out the same phones at the same time append them once', async () => {
  const call = await endedCall(warehouse);
  await deliverTo(warehouse, call, phonesBody(call.ids, 24));
  await undo(call.runId);
  await runThatFound(call);
  const runIds = [await plannedRunOf(call, onlyPhones), await plannedRunOf(call, onlyPhones)];
  const people = { service: 'test', people: call.ids.map(keyOfId), contacts: [] };
  const reuse = (runId: string) =>
    warehouse.database.transaction().execute(async (transaction) => {
      const { options } = await getRun(warehouse, runId);
      await reuseForLeftOut(transaction, { runId, ...askedBy(options) }, { after: 0, last: 3 });
    });
  const reused = await warehouse.database.transaction().execute(async (transaction) => {
    await lockLog(transaction, people);
    const both = runIds.map(reuse);
    const waiting = `select from pg_locks where locktype = 'advisory' and not granted`;
    await expect.poll(async () => (await warehouse.pool.query(waiting)).rowCount).toBe(2);
    return both;
  });
  await Promise.all(reused);
  expect(await reusedObservations(call)).toHaveLength(3);
});
