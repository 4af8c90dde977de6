import { expect, it } from 'vitest';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import { storeDeliveries } from '../../../src/late-results/deliveries.ts';
import { drainInbox } from '../../../src/late-results/sync-late-results.ts';
import { hashToken } from '../../../src/ledger/admit.ts';
import { erase } from '../../../src/privacy/erase.ts';
import { askedBy, openPage } from '../../../src/runs/pages.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { getRun } from '../../../src/runs/runs.ts';
import { undoRun } from '../../../src/runs/undo-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerBatch, readContact, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const { signal } = new AbortController();
const note = { by: 'test', reason: undefined };
const warehouse = await warehouseOfFile({ keepsPlans: true });
const contact = (contactId: string) => readContact(warehouse, contactId);

let worlds = 0;

/** A row, and two people who fit it by name and employer. No export names the second. */
function world() {
  worlds += 1;
  const name = { first_name: 'Ida', last_name: `Vega${'abcdefghij'[worlds]!}` };
  const organization = { name: 'Delta Labs', primary_domain: 'delta.example' };
  const email = `iv${worlds}@delta.example`;
  const row = {
    keys: [`email:${email}`],
    email,
    firstName: name.first_name,
    lastName: name.last_name,
    organizationName: 'Delta Labs',
    contactId: `ida-${worlds}`,
  };
  const other = { keys: [`email:o${worlds}@far.example`], email: `o${worlds}@far.example` };
  return {
    row,
    otherRow: { ...other, firstName: 'Otto', lastName: 'Frank', contactId: `otto-${worlds}` },
    person: { id: `ida-${worlds}`, ...name, organization },
    namesake: {
      id: `ida-too-${worlds}`,
      ...name,
      title: 'CFO',
      organization,
      email: `ida${worlds}@delta.example`,
    },
  };
}

it('a person named later makes a namesake doubtful, also after an undo, until an erasure', async () => {
  const { row, otherRow, person, namesake } = world();
  const first = await runningRunOf(warehouse, [row], { source: 'hubspot' });
  await answerBatch(warehouse, { runId: first }, () => [person]);
  await endRun(warehouse, first, 'finished', undefined);
  expect(await contact(row.contactId)).toBeDefined();
  const second = await runningRunOf(warehouse, [otherRow], { source: 'salesforce' });
  await answerBatch(warehouse, { runId: second }, () => [namesake]);
  expect(await contact(row.contactId)).toBeUndefined();
  await endRun(warehouse, second, 'finished', undefined);
  await undoRun(warehouse, second, note, signal);
  expect(await contact(row.contactId)).toBeUndefined();
  await erase(warehouse, [`email:${namesake.email}`], note);
  expect(await contact(row.contactId)).toBeDefined();
});

it('a row of very long names does not stop its page', async () => {
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

const waterfall = ['email', 'phone'] as const;

async function deliver(token: string, people: readonly object[]): Promise<void> {
  const body = { request_id: '9', target_fields: ['emails'], credits_consumed: 3, people };
  await storeDeliveries(warehouse, [
    {
      tokenHash: hashToken(token),
      body: Buffer.from(JSON.stringify(body)),
      contentEncoding: undefined,
    },
  ]);
}

const stranger = {
  id: 'W-1',
  emails: [
    { email: 'ceo@acme.example', email_status_cd: 'verified' },
    { email: 'bob.private@home.example', email_status_cd: 'verified' },
  ],
  phone_numbers: [{ sanitized_number: '+14155550999', type_cd: 'mobile', status_cd: 'valid_number' }],
};

it('a late result with a new id goes to no contact by an address that only the CRM has', async () => {
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
