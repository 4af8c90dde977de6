import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { matchPerson } from '../../../src/calls/match-person.ts';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';
import { type ServiceClient, operations } from '../../../src/service/client.ts';
import { mapFailure } from '../../../src/service/failures/map-failure.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { putOnList, runningRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

/** Asks a service for a person. */
function matched(
  client: object,
  person: Parameters<typeof matchPerson>[1]['person'] = { firstName: 'Ada', lastName: 'Novak' },
): ReturnType<typeof matchPerson> {
  const limits = { rateLimits: [], budgets: {}, callTimeoutSeconds: 30 };
  const dependencies = { warehouse, service: 'test', client: client as ServiceClient, ...limits };
  return matchPerson(dependencies, { person, reveal: [] });
}

it.each(['email:ada@home.example', 'profile:linkedin.com/in/ada', 'person:p1', 'domain:orbit.example'])(
  'matchPerson() withholds a person who is on the suppression list by %s, and settles the price',
  async (key) => {
    await warehouse.query`truncate suppression_entries cascade`;
    await putOnList(warehouse, key);
    const person = {
      id: 'p1',
      email: 'ada@orbit.example',
      personal_emails: ['ada@home.example'],
      proflink_url: 'https://www.linkedin.com/in/ada',
      organization: { primary_domain: 'orbit.example' },
    };
    const client = {
      match: async () => ({ person, creditsConsumed: wholeCredits(1), rateLimits: [] }),
    };
    // In the budgets of the day and of the month.
    const settled = async (): Promise<unknown> =>
      (await warehouse.query`select sum(settled)::int as credits from budgets`)[0].credits;
    const before = Number(await settled());
    await expect(matched(client)).rejects.toMatchObject({ type: 'match.found-suppressed' });
    expect(await settled()).toBe(before + 2);
  },
);

it.each([
  ['an address', { email: 'bo@orbit.example' }, 'email:bo@former.example'],
  [
    'the hash of an address',
    { hashedEmail: createHash('md5').update('bo@orbit.example').digest('hex') },
    'person:bo',
  ],
  ['an id', { personId: 'bo' }, 'domain:orbit.example'],
])(
  'matchPerson() by %s sends no request about a person whom an earlier answer connects with a listed key',
  async (_, person, key) => {
    await warehouse.query`
      truncate suppression_entries, contact_matches, contact_records, observation_log, people cascade`;
    const runId = await runningRun(warehouse);
    for (const email of ['bo@former.example', 'bo@orbit.example'])
      await appendContact(warehouse, { contactId: 'bo', runId, person: { id: 'bo', email } });
    await putOnList(warehouse, key);
    await expect(matched({}, person)).rejects.toMatchObject({ type: 'match.suppressed' });
  },
);

it.each<[number, object]>([
  [500, {}],
  [422, { credits_consumed: 1 }],
])(
  'matchPerson() holds its reservation after a %d with the body %o, and names no attempt',
  async (status, body) => {
    await warehouse.query`truncate suppression_entries cascade`;
    const raw = Buffer.from(JSON.stringify(body));
    const client = {
      match: () =>
        Promise.reject(mapFailure({ status, headers: {}, body: raw, receivedAt: 0 }, operations.match)),
    };
    const held = async (): Promise<number> =>
      Number((await warehouse.query`select sum(reserved) as held from budgets`)[0].held);
    const before = await held();
    const failed = matched(client);
    await expect(failed).rejects.toMatchObject({ next: expect.not.stringContaining('attempts') as string });
    expect(await held()).toBe(before + 2);
  },
);

it('matchPerson() keeps its reservation if the answer states an impossible price', async () => {
  await warehouse.query`truncate suppression_entries cascade`;
  const client = {
    match: async () => ({
      person: { id: 'p2' },
      creditsConsumed: wholeCredits(90_000_000_000_000),
      rateLimits: [],
    }),
  };
  const books = async (): Promise<unknown> =>
    (
      await warehouse.query`
        select sum(settled)::int8 as settled, sum(reserved)::int as reserved from budgets`
    )[0];
  const before = (await books()) as { settled: string; reserved: number } | undefined;
  const answer = await matched(client);
  expect(answer.person).toEqual({ id: 'p2' });
  expect(await books()).toEqual({ settled: before!.settled, reserved: before!.reserved + 2 });
});
