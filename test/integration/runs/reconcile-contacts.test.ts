import { expect, it } from 'vitest';
import { contactOwnerKey } from '../../../src/domain/identity/match-keys.ts';
import { factsOfAnswer, personKeyOfId, personKeyWithoutId } from '../../../src/people/observation.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { markAttemptUnknown } from '../../../src/ledger/close-attempt.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { admit } from '../../helpers/warehouse/admit.ts';
import { addToSuppressionList, stagedRun, noSignal, testSpec } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf, personOf } from '../../helpers/warehouse/scripted-calls.ts';
import { writeFacts } from '../../helpers/warehouse/write-facts.ts';

const warehouse = await warehouseOfFile({ keepsPlans: true });

/** Stores an answer about a person with this e-mail; a person without an id answers a call for the contact `c1`. */
async function knownPerson(email: string, personId: string | null, runId = 'earlier'): Promise<void> {
  const said = factsOfAnswer({
    ...(personId !== null && { id: personId }),
    first_name: 'Ada',
    last_name: 'Novak',
    email,
    email_status: 'verified',
  });
  const row = { runId, rowNumber: 1, attemptId: email, matchIndex: 0 };
  const key = personId === null ? personKeyWithoutId(row) : personKeyOfId(personId);
  const call = {
    personKey: key,
    askedAt: new Date().toISOString(),
    runId,
    attemptId: 'a1',
    deliveryId: null,
  };
  const keys = personId === null ? { match_keys: [contactOwnerKey('generic', 'c1')] } : {};
  await writeFacts(warehouse, 'test', [{ ...said, ...keys, ...call, kind: 'answer' }]);
}

async function runOf(
  email: string,
  contactId: string,
  source = 'generic',
  firstName = 'Ada',
): Promise<string> {
  const row = { email, firstName, lastName: 'Novak', contactId };
  return (await stagedRun(warehouse, [row], testSpec({ source }))).runId;
}

/** A run of another source that has ended without an answer about the contact. */
async function endedRunOf(
  email: string,
  contactId: string,
  source = 'crm-b',
  firstName?: string,
): Promise<string> {
  const runId = await runOf(email, contactId, source, firstName);
  await warehouse.query`update run_rows set outcome = 'not_found' where run_id = ${runId}`;
  await reconcile(runId);
  await endRun(warehouse, runId, 'finished', undefined);
  return runId;
}

async function contactsOfSource(source: string): Promise<unknown[]> {
  const rows = await warehouse.query<{ contact_id: string }>`
    select contact_id from enriched_contacts where source = ${source} order by contact_id`;
  return rows.map(({ contact_id: id }) => id);
}

const reconcile = (runId: string) => reconcileContacts(warehouse, runId, noSignal);

it('reconcileContacts() fills a contact once if its e-mail belongs to a known person', async () => {
  await knownPerson('ada@one.example', 'p1');
  const runId = await runOf('ada@one.example', 'c1');
  expect(await reconcile(runId)).toEqual({ filled: 1, withdrawn: 0 });
  expect(await reconcile(runId)).toEqual({ filled: 0, withdrawn: 0 });
  expect((await readRunFacts(warehouse, runId)).filled).toBe(1);
});

it('reconcileContacts() does not assign a person without an id to a second contact', async () => {
  await knownPerson('ada@two.example', null);
  expect(await reconcile(await runOf('ada@two.example', 'c2'))).toEqual({ filled: 0, withdrawn: 0 });
});

it('a newly found person fills a contact of another source, unless its row changed or is suppressed', async () => {
  for (const name of ['four', 'five', 'six']) await endedRunOf(`ada@${name}.example`, `b-${name}`);
  // A newer row gives the CRM record to another person.
  await endedRunOf('other@five.example', 'b-five', 'crm-b', 'Grace');
  await addToSuppressionList(warehouse, 'email:ada@six.example');
  const runId = await runOf('ada@seven.example', 'c7');
  for (const name of ['four', 'five', 'six']) await knownPerson(`ada@${name}.example`, `p-${name}`, runId);
  expect(await contactsOfSource('crm-b')).toEqual(['b-four']);
});

it.each<readonly [string, (runId: string) => Promise<unknown>, Record<string, unknown>]>([
  [
    'was enriched',
    (runId) =>
      answerBatch(warehouse, { runId }, ([asked]) => [personOf(asked!.identity, { id: 'p-was-enriched' })]),
    { outcome: 'enriched', filled: false, reason: null },
  ],
  [
    'was not found',
    (runId) => answerBatch(warehouse, { runId }, () => [null]),
    {
      outcome: 'identity_mismatch',
      filled: true,
      reason: expect.stringMatching(/; filled without a call$/),
    },
  ],
  [
    'has a lost call',
    async (runId) => {
      const admission = await admit(warehouse.database, { runId, rowNumbers: [1] });
      if (admission.kind === 'admitted') await markAttemptUnknown(warehouse, admission.attemptId, 'reset');
    },
    { outcome: 'unknown', filled: true, reason: expect.stringMatching(/: reset; filled without a call$/) },
  ],
])(
  'row_results says that a contact was filled without a call, unless a call enriched it (row %s)',
  async (how, end, row) => {
    const source = how.replaceAll(' ', '-');
    const email = `ada@${source}.example`;
    await knownPerson(email, `p-${source}`);
    const staged = { email, firstName: 'Ada', lastName: 'Novak', contactId: 'c12' };
    const runId = await runningRunOf(warehouse, [staged], { source });
    await end(runId);
    await reconcile(runId);
    expect(await contactsOfSource(source)).toEqual(['c12']);
    expect(
      await warehouse.query`select outcome, filled, reason from row_results where run_id = ${runId}`,
    ).toEqual([row]);
  },
);
