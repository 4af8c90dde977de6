import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reconcileContacts, type ReconciledContacts } from '../../../src/runs/reconcile-contacts.ts';
import { readRunFacts } from '../../../src/runs/run-facts.ts';
import { openTestWarehouse, type TestWarehouse } from '../../helpers/database.ts';
import { stagedRun } from '../../helpers/rows.ts';

let warehouse: TestWarehouse;

beforeAll(async () => {
  warehouse = await openTestWarehouse();
});

afterAll(() => warehouse.drop());

/** The service has said something about a person with this address. */
async function knownPerson(email: string, personId: string | null): Promise<string> {
  const key = personId === null ? `row:earlier:1:${email}` : `person:${personId}`;
  const facts = {
    first_name: { first_name: 'Ada', last_name: 'Novak' },
    email: { email, email_status: 'verified', rank: 0 },
    emails: [{ email, kind: 'profile', position: 0 }],
  };
  await warehouse.pool.query(
    `insert into enrichment.observations
       (service, person_key, person_id, kind, asked_at, run_id, attempt_id, identity_keys, facts)
     values ('test', $1, $2, 'answer', now(), 'earlier', 'a1', array['email:' || $3::text], $4)`,
    [key, personId, email, JSON.stringify(facts)],
  );
  await warehouse.pool.query(`select enrichment.project('test', array[$1], '{}', '{}')`, [key]);
  return key;
}

async function runOf(email: string, contactId: string): Promise<string> {
  const row = { keys: [`email:${email}`], email, firstName: 'Ada', lastName: 'Novak', contactId };
  return (await stagedRun(warehouse, [row])).runId;
}

const reconcile = (runId: string): Promise<ReconciledContacts> =>
  reconcileContacts(warehouse, runId, new AbortController().signal);

describe('reconcileContacts()', () => {
  it('fills a contact whose address a known person has, once', async () => {
    await knownPerson('ada@one.example', 'p1');
    const runId = await runOf('ada@one.example', 'c1');
    expect(await reconcile(runId)).toEqual({ filled: 1, withdrawn: 0 });
    expect(await reconcile(runId)).toEqual({ filled: 0, withdrawn: 0 });
    expect((await readRunFacts(warehouse, runId)).filled).toBe(1);
  });

  it('shares no person without an id, whose data belongs to the contact that was asked for', async () => {
    await knownPerson('ada@two.example', null);
    expect(await reconcile(await runOf('ada@two.example', 'c2'))).toEqual({ filled: 0, withdrawn: 0 });
  });

  it('does not count a contact as filled without a call when the run asked for it afterwards', async () => {
    const key = await knownPerson('ada@three.example', 'p3');
    const runId = await runOf('ada@three.example', 'c3');
    await reconcile(runId);
    await warehouse.pool.query(
      `insert into enrichment.contact_matches
         (source, contact_id, service, person_key, evidence, asked, run_id, row_number, decided_at)
       values ('generic', 'c3', 'test', $1, 'email', true, $2, 1, now())`,
      [key, runId],
    );
    expect((await readRunFacts(warehouse, runId)).filled).toBe(0);
  });
});
