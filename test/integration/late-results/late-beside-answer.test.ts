import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contactFields } from '../../../src/domain/identity/field-groups.ts';
import { writeLateEmails, writePhones, type LateContact } from '../../../src/people/contact-phones.ts';
import { upsertContacts } from '../../../src/people/contacts.ts';
import { openTestWarehouse, type TestWarehouse } from '../../helpers/database.ts';
import { stagedRun } from '../../helpers/rows.ts';

let warehouse: TestWarehouse;

beforeAll(async () => {
  warehouse = await openTestWarehouse({ connections: 6 });
});

afterAll(() => warehouse.drop());

const boNumber = '+14155550100';
const boEmail = 'bo@late.example';
const askedAt = '2026-11-21T08:00:00Z';

/** Until somebody waits for a lock. */
function untilWaiting(): Promise<void> {
  return expect
    .poll(
      async () => {
        const { rows } = await warehouse.pool.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows.length;
      },
      { timeout: 10_000, interval: 20 },
    )
    .toBe(1);
}

async function write(contactId: string, personId: string): Promise<void> {
  const { runId } = await stagedRun(warehouse, [{ keys: [], contactId, outcome: 'enriched' }]);
  const fields = { ...contactFields({ id: personId }), email: `${personId}@answer.example` };
  await warehouse.database.transaction().execute((transaction) =>
    upsertContacts(transaction, {
      source: 'generic',
      runId,
      attemptId: runId,
      asOf: askedAt,
      contacts: [{ rowNumber: 1, fields }],
    }),
  );
}

/**
 * A late result for Bo begins while there is no contact (its run was undone), finds one that is Bo's, and while it writes, the record
 * becomes Ada's.
 */
async function contactAfter(
  contactId: string,
  late: (contact: LateContact) => Promise<void>,
): Promise<unknown> {
  const [numberHolder, recordHolder] = [await warehouse.pool.connect(), await warehouse.pool.connect()];
  try {
    await numberHolder.query('begin');
    await numberHolder.query(
      `insert into contact_phones (source, contact_id, person_id, number, position, origin, attempt_id, run_id, delivery_id, asked_at)
       values ('generic', $1, 'bo', $2, 0, 'reveal', 'a', 'r', 'd', now())`,
      [contactId, boNumber],
    );
    const contact = { source: 'generic', contactId, personId: 'bo', runId: 'late', rowNumber: 1 };
    const writing = late({ ...contact, attemptId: 'late', askedAt, emails: [], undone: false });
    await untilWaiting();
    await write(contactId, 'bo');
    await recordHolder.query('begin');
    await recordHolder.query(
      `update enriched_contacts set person_id = 'ada', email = 'ada@answer.example' where contact_id = $1`,
      [contactId],
    );
    await numberHolder.query('rollback');
    await untilWaiting();
    await recordHolder.query('commit');
    await writing;
  } finally {
    numberHolder.release();
    recordHolder.release();
  }
  const { rows } = await warehouse.pool.query<object>(
    'select person_id, phone, email from enriched_contacts where contact_id = $1',
    [contactId],
  );
  return rows[0];
}

describe('a late result beside an answer that makes somebody else of the contact', () => {
  const ada = { person_id: 'ada', phone: null, email: 'ada@answer.example' };
  const delivery = { deliveryId: 'd', origin: 'waterfall' } as const;
  const phone = { rawNumber: undefined, type: undefined, status: undefined, dncStatus: undefined };

  it('puts no number into it', async () => {
    const phones = [{ ...phone, sanitizedNumber: boNumber, confidence: undefined, position: 0 }];
    const late = (contact: LateContact): Promise<void> =>
      warehouse.database
        .transaction()
        .execute((transaction) => writePhones(transaction, delivery, [{ contact, person: { phones } }]));
    expect(await contactAfter('numbers', late)).toEqual(ada);
  });

  it('puts no address into it', async () => {
    const emails = [{ email: boEmail, status: 'verified' }];
    const late = (contact: LateContact): Promise<void> =>
      warehouse.database.transaction().execute(async (transaction) => {
        // Waits as its numbers do, before its addresses are written.
        await sql`
          insert into contact_phones (source, contact_id, person_id, number, position, origin, attempt_id, run_id, delivery_id, asked_at)
          values ('generic', ${contact.contactId}, 'bo', ${boNumber}, 0, 'reveal', 'a', 'r', 'd', now())
        `.execute(transaction);
        await writeLateEmails(transaction, [{ contact, person: { emails } }]);
      });
    expect(await contactAfter('addresses', late)).toEqual(ada);
  });
});
