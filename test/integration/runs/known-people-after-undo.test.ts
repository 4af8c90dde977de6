import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, type StagedRow } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });
const [former, present] = ['ida@former.example', 'ida@present.example'];

async function undo(runId: string): Promise<void> {
  await undoRun(warehouse, runId, { by: 'somebody', reason: undefined }, new AbortController().signal);
}

async function endOf(runId: string): Promise<void> {
  await reconcileContacts(warehouse, runId, new AbortController().signal);
  await endRun(warehouse, runId, 'finished', undefined);
}

/** A run that asks for one row and ends. */
async function runThatFinds(row: StagedRow, person: Readonly<Record<string, unknown>>): Promise<string> {
  const runId = await runningRunOf(warehouse, [row], {
    source: 'crm',
    freshness: { enrichedSeconds: 0, notFoundSeconds: 0 },
  });
  await answerBatch(warehouse, { runId }, () => [person]);
  await endOf(runId);
  return runId;
}

/** A run of one row whose person was asked for before. */
async function freshRunOf(row: StagedRow): Promise<string> {
  const runId = await runningRunOf(warehouse, [row], { source: 'crm' });
  expect(await outcomesOf(warehouse, runId)).toEqual(['fresh']);
  return runId;
}

function contactsOf(prefix: string): Promise<readonly object[]> {
  return warehouse.query<object>`
    select contact_id, coalesce(email, organization_name) as value
    from enriched_contacts where starts_with(contact_id, ${prefix}) order by contact_id`;
}

function byEmail(contactId: string, email: string): StagedRow {
  return { contactId, keys: [`email:${email}`], email };
}

/** A contact whose person has an address in a run that counts, and another address in a later run, which is undone. */
async function personOfTwoAddresses(prefix: string): Promise<void> {
  const runs = [];
  for (const email of [`${prefix}${former}`, `${prefix}${present}`]) {
    const person = { id: `P-${prefix}`, first_name: 'Ida', last_name: 'Moved', email };
    runs.push(await runThatFinds(byEmail(`${prefix}1`, `${prefix}${former}`), person));
  }
  await undo(runs[1]!);
}

it('a contact gets a known person by an address that only an undone run knows', async () => {
  const prefix = 'moved-';
  await personOfTwoAddresses(prefix);
  const email = `${prefix}${present}`;
  const hashedEmail = createHash('md5').update(email).digest('hex');
  const last = await freshRunOf(byEmail(`${prefix}3`, email));
  const again = await freshRunOf({ contactId: `${prefix}2`, keys: [`hash:${hashedEmail}`], hashedEmail });
  await warehouse.query`update run_rows set hashed_email = ${hashedEmail} where run_id = ${again}`;
  await endOf(again);
  const [one, two, three] = [1, 2, 3].map((number) => ({ contact_id: `${prefix}${number}`, value: email }));
  // What was paid for stays known: the undone run's export no longer has the first contact's new data alone.
  expect(await contactsOf(prefix)).toEqual([one, two, three]);
  await undo(again);
  expect(await contactsOf(prefix)).toEqual([one, three]);
  await endOf(last);
  await undo(last);
  expect(await contactsOf(prefix)).toEqual([one]);
});
