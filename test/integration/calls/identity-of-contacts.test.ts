import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import { storeDelivery } from '../../../src/late-results/deliveries.ts';
import { drainInbox } from '../../../src/late-results/drain-deliveries.ts';
import { hashToken } from '../../../src/ledger/webhook-token.ts';
import { suppress } from '../../../src/privacy/suppressions.ts';
import { askedBy, openPage } from '../../../src/runs/pages.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { openTestWarehouse, type TestWarehouse } from '../../helpers/database.ts';
import { outcomesOf } from '../../helpers/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/scripted-calls.ts';

let warehouse: TestWarehouse;

beforeAll(async () => {
  warehouse = await openTestWarehouse();
});

afterAll(() => warehouse.drop());

async function contact(contactId: string): Promise<Record<string, unknown> | undefined> {
  const { rows } = await warehouse.pool.query('select * from enriched_contacts where contact_id = $1', [
    contactId,
  ]);
  return rows[0] as Record<string, unknown> | undefined;
}

describe('a contact whose CRM record became another person', () => {
  it('keeps nothing of the former person when neither person has a service id', async () => {
    const ada = { email: 'ada@one.example', firstName: 'Ada', lastName: 'Novak', contactId: 'reused' };
    const before = await runningRunOf(warehouse, [{ keys: ['email:ada@one.example'], ...ada }]);
    await answerBatch(warehouse, { runId: before }, () => [
      {
        id: null,
        first_name: 'Ada',
        last_name: 'Novak',
        email: 'ada@one.example',
        title: 'CEO',
        city: 'Graz',
        proflink_url: 'http://www.linkedin.com/in/ada-novak',
      },
    ]);
    const bob = { email: 'bob@two.example', firstName: 'Bob', lastName: 'Quist', contactId: 'reused' };
    const after = await runningRunOf(warehouse, [{ keys: ['email:bob@two.example'], ...bob }]);
    await answerBatch(warehouse, { runId: after }, () => [
      { id: '', first_name: 'Bob', last_name: 'Quist', email: 'bob@two.example' },
    ]);
    expect(await contact('reused')).toMatchObject({
      first_name: 'Bob',
      email: 'bob@two.example',
      title: null,
      city: null,
      linkedin_url: null,
    });
  });
});

describe('a person on the suppression list', () => {
  it('is not written when only a personal address in the answer is listed', async () => {
    await warehouse.database
      .transaction()
      .execute((transaction) =>
        suppress(transaction, ['email:ada.private@home.example'], { by: 'test', reason: undefined }),
      );
    const row = { email: 'ada7@one.example', firstName: 'Ada', lastName: 'Seven', contactId: 'listed' };
    const runId = await runningRunOf(warehouse, [{ keys: ['email:ada7@one.example'], ...row }]);
    const { attemptId } = await answerBatch(warehouse, { runId }, () => [
      {
        id: 'P7',
        first_name: 'Ada',
        last_name: 'Seven',
        email: 'ada7@one.example',
        personal_emails: ['Ada.Private@home.example'],
      },
    ]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['suppressed']);
    expect(await contact('listed')).toBeUndefined();
    const bodies = await warehouse.pool.query('select 1 from raw_answers where attempt_id = $1', [attemptId]);
    expect(bodies.rows).toEqual([]);
  });
});

describe('a row of very long names', () => {
  it('does not stop the page that it stands in', async () => {
    let seed = 7;
    const letter = (): string => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return String.fromCharCode(0xac00 + (seed % 11_172));
    };
    const name = (): string => Array.from({ length: 300 }, letter).join('');
    const long = { firstName: name(), lastName: name(), organizationName: name() };
    const runId = await runningRunOf(warehouse, [
      { keys: identityKeys(long), ...long, contactId: 'long' },
      { keys: ['email:short@x.example'], email: 'short@x.example', contactId: 'short' },
    ]);
    const { options } = await getRun(warehouse, runId);
    expect(await openPage(warehouse, runId, 1, askedBy(options))).toEqual({ batches: [1], people: 2 });
  });
});

describe('a late result with an id that the answer did not have', () => {
  const waterfall = ['email', 'phone'] as const;

  async function deliver(token: string, people: readonly object[]): Promise<void> {
    const body = { request_id: '9', target_fields: ['emails'], credits_consumed: 3, people };
    await storeDelivery(warehouse, {
      tokenHash: hashToken(token),
      body: Buffer.from(JSON.stringify(body)),
      contentEncoding: undefined,
    });
  }

  const stranger = {
    id: 'W-1',
    emails: [
      { email: 'ceo@acme.example', email_status_cd: 'verified' },
      { email: 'bob.private@home.example', email_status_cd: 'verified' },
    ],
    phone_numbers: [{ sanitized_number: '+14155550999', type_cd: 'mobile', status_cd: 'valid_number' }],
  };

  it('is given to no person by an address that only the CRM has: the address may be another person’s by now', async () => {
    const runId = await runningRunOf(
      warehouse,
      [
        {
          keys: ['email:ceo@acme.example', 'profile:linkedin.com/in/ann-lee'],
          email: 'ceo@acme.example',
          profileUrl: 'linkedin.com/in/ann-lee',
          firstName: 'Ann',
          lastName: 'Lee',
          contactId: 'ann',
        },
      ],
      { waterfall },
    );
    const { attemptId, token } = await answerBatch(warehouse, { runId, waterfall }, () => [
      {
        id: 'P-ANN',
        first_name: 'Ann',
        last_name: 'Lee',
        proflink_url: 'https://linkedin.com/in/ann-lee',
        email: 'ann@newco.example',
      },
    ]);
    await deliver(token!, [stranger]);
    await drainInbox(warehouse, { attemptId }, new AbortController().signal);
    expect(await contact('ann')).toMatchObject({ email: 'ann@newco.example', phone: null });
  });

  it('is given to the contact whose address the answer confirmed', async () => {
    const row = { email: 'boss@acme.example', firstName: 'Cy', lastName: 'Ek', contactId: 'cy' };
    const runId = await runningRunOf(warehouse, [{ keys: ['email:boss@acme.example'], ...row }], {
      waterfall,
    });
    const { attemptId, token } = await answerBatch(warehouse, { runId, waterfall }, () => [
      { id: 'P-CY', first_name: 'Cy', last_name: 'Ek', email: 'boss@acme.example' },
    ]);
    await deliver(token!, [{ ...stranger, emails: [{ email: 'boss@acme.example' }] }]);
    await drainInbox(warehouse, { attemptId }, new AbortController().signal);
    expect(await contact('cy')).toMatchObject({ email: 'boss@acme.example', phone: '+14155550999' });
  });
});
