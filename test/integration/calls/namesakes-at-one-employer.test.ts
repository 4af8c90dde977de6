import { describe, expect, it } from 'vitest';
import { rejectPerson } from '../../../src/calls/batches/enrich-batch.ts';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import { digest } from '../../../src/people/digest.ts';
import { rebuild } from '../../../src/people/rebuild.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { revertUndo, undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, testSpec } from '../../helpers/warehouse/rows.ts';
import {
  answerBatch,
  runningRunOf,
  strangersOf,
  readContact,
} from '../../helpers/warehouse/scripted-calls.ts';

const { signal } = new AbortController();
const note = { by: 'test', reason: undefined };
const warehouse = await warehouseOfFile({ keepsPlans: true });
const contact = (contactId: string) => readContact(warehouse, contactId);

describe('two people of one name at one employer', () => {
  const acme = { name: 'Acme Widgets', primary_domain: 'acme.example' };
  const locked = 'email_not_unlocked@domain.com';
  let people = 0;

  /** Two namesakes at one employer, and the one of them whom the service finds for both. */
  function namesakes() {
    people += 1;
    const name = { firstName: 'John', lastName: `Smith${'abcdefghijklmnopqrstuvw'[people]!}` };
    const row = (local: string) => ({
      ...name,
      keys: [`email:${local}${people}@acme.example`],
      email: `${local}${people}@acme.example`,
      organizationName: 'Acme Widgets',
      contactId: `${local}-${people}`,
    });
    const person = { id: `P-${people}`, first_name: 'John', last_name: name.lastName, email: locked };
    return { first: row('js'), second: row('john.s'), person: { ...person, organization: acme } };
  }

  const strangers = () => strangersOf(`namesakes${people}`);

  it('namesakes at one employer both lose the person who fits both, in two calls', async () => {
    const { first, second, person } = namesakes();
    const runId = await runningRunOf(warehouse, [first, ...strangers(), second]);
    for (const batch of [2, 1])
      await answerBatch(warehouse, { runId, batch }, (asked) =>
        asked.map(({ identity }) => (identity.firstName === 'John' ? person : null)),
      );
    const outcomes = await outcomesOf(warehouse, runId);
    expect([outcomes[0], outcomes[10]]).toEqual(['identity_mismatch', 'identity_mismatch']);
    expect(await contact(first.contactId)).toBeUndefined();
    expect(await contact(second.contactId)).toBeUndefined();
    const rows = await warehouse.query`
        select q.reason from quarantined_people q join attempts using (attempt_id) where run_id = ${runId}`;
    expect(rows.map(({ reason }) => reason as string)).toEqual(
      Array(2).fill('another contact could be this person as well'),
    );
  });

  it('row_results gives the reason of an enriched row without data while its contact has no person', async () => {
    const { first, second, person } = namesakes();
    const earlier = await runningRunOf(warehouse, [first, ...strangers()], { source: 'hubspot' });
    await answerBatch(warehouse, { runId: earlier }, (asked) =>
      asked.map(({ identity }) => (identity.firstName === 'John' ? person : null)),
    );
    const resultOf = async (): Promise<unknown> => {
      const rows = await warehouse.query`
        select outcome, reason, lost_reason, lost_at is not null as is_lost
        from row_results where run_id = ${earlier} and row_number = 1`;
      return rows[0] as unknown;
    };
    const kept = { outcome: 'enriched', reason: null, lost_reason: null, is_lost: false };
    const why = 'another contact could be this person as well';
    const lost = { ...kept, reason: `the contact lost its person: ${why}`, lost_reason: why, is_lost: true };
    expect(await resultOf()).toEqual(kept);
    const later = await runningRunOf(warehouse, [second], { source: 'salesforce' });
    await reconcileContacts(warehouse, later, signal);
    expect(await resultOf()).toEqual(lost);
    await answerBatch(warehouse, { runId: later }, () => [person]);
    await rebuild(warehouse, { check: false, signal });
    expect(await resultOf()).toEqual(lost);
    await endRun(warehouse, later, 'finished', undefined);
    await undoRun(warehouse, later, note, signal);
    expect(await resultOf()).toEqual(kept);
    await revertUndo(warehouse, later, signal);
    expect(await resultOf()).toEqual(lost);
    await endRun(warehouse, earlier, 'finished', undefined);
    await undoRun(warehouse, earlier, note, signal);
    expect(await resultOf()).toEqual(kept);
  });

  const endings = {
    'finds nobody': (runId: string) => answerBatch(warehouse, { runId }, () => [null]),
    'is refused': async (runId: string) => {
      const refused = { runId, rowNumber: 1, reason: 'refused', asked: testSpec().options };
      await rejectPerson(warehouse, refused);
      await digest(warehouse);
    },
  };

  it.each(Object.entries(endings))(
    'a call for a name that %s decides about namesakes too',
    async (_, end) => {
      const { person } = namesakes();
      const identity = { firstName: 'John', lastName: person.last_name, organizationName: 'Acme Widgets' };
      const rowOf = (contactId: string) => ({ ...identity, contactId, keys: identityKeys(identity) });
      const stranger = { ...strangers()[0]!, contactId: `stranger-${people}` };
      const first = await runningRunOf(warehouse, [stranger]);
      await answerBatch(warehouse, { runId: first }, () => [person]);
      const unasked = await runningRunOf(warehouse, [rowOf(`unasked-${people}`)], { source: 'events' });
      await reconcileContacts(warehouse, unasked, signal);
      const asking = await runningRunOf(warehouse, [rowOf(`asked-${people}`)]);
      await reconcileContacts(warehouse, asking, signal);
      await end(asking);
      const figures = await rebuild(warehouse, { check: true, signal });
      expect(figures).toMatchObject({ differing: [] });
    },
  );
});
