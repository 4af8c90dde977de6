import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { matchPerson } from '../../../src/calls/match-person.ts';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import { type ServiceClient, serviceOperations } from '../../../src/service/client.ts';
import { mapFailure } from '../../../src/service/failures/map-failure.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { addToSuppressionList, runningRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

/** Calls matchPerson() with a client that answers as given. */
function matched(
  client: object,
  person: Parameters<typeof matchPerson>[1]['person'] = { firstName: 'Ada', lastName: 'Novak' },
): ReturnType<typeof matchPerson> {
  const limits = { rateLimits: [], budgets: {}, callTimeoutSeconds: 30 };
  const dependencies = { warehouse, service: 'test', client: client as ServiceClient, ...limits };
  return matchPerson(dependencies, { person, reveal: [] });
}

it.each(['email:ada@home.example', 'profile:linkedin.com/in/ada', 'person:p1', 'domain:orbit.example'])(
  'matchPerson() returns no person if %s is on the suppression list, and settles the price',
  async (key) => {
    await warehouse.query`truncate suppression_entries cascade`;
    await addToSuppressionList(warehouse, key);
    const person = {
      id: 'p1',
      email: 'ada@orbit.example',
      personal_emails: ['ada@home.example'],
      proflink_url: 'https://www.linkedin.com/in/ada',
      organization: { primary_domain: 'orbit.example' },
    };
    const client = {
      match: async () => ({ person, creditsConsumed: creditsFromWhole(1), rateLimits: [] }),
    };
    // The price counts in the day budget and in the month budget.
    const settled = async (): Promise<unknown> =>
      (await warehouse.query`select sum(settled)::int as credits from budgets`)[0].credits;
    const before = Number(await settled());
    await expect(matched(client)).rejects.toMatchObject({ type: 'match.found-suppressed' });
    expect(await settled()).toBe(before + 2);
  },
);

it.each([
  ['e-mail', { email: 'bo@orbit.example' }, 'email:bo@former.example'],
  ['hashed e-mail', { hashedEmail: createHash('md5').update('bo@orbit.example').digest('hex') }, 'person:bo'],
  ['id', { personId: 'bo' }, 'domain:orbit.example'],
])(
  'matchPerson() by %s sends no request if an earlier answer links the person to the suppression list',
  async (_, person, key) => {
    await warehouse.query`
      truncate suppression_entries, contact_matches, contact_records, observation_log, people cascade`;
    const runId = await runningRun(warehouse);
    for (const email of ['bo@former.example', 'bo@orbit.example'])
      await appendContact(warehouse, { contactId: 'bo', runId, person: { id: 'bo', email } });
    await addToSuppressionList(warehouse, key);
    await expect(matched({}, person)).rejects.toMatchObject({ type: 'match.suppressed' });
  },
);

it.each<[number, object]>([
  [500, {}],
  [422, { credits_consumed: 1 }],
])(
  'matchPerson() keeps its reservation after a %d response with body %o; the error names no attempt',
  async (status, body) => {
    await warehouse.query`truncate suppression_entries cascade`;
    const raw = Buffer.from(JSON.stringify(body));
    const client = {
      match: () =>
        Promise.reject(
          mapFailure({ status, headers: {}, body: raw, receivedAt: 0 }, serviceOperations.match),
        ),
    };
    const held = async (): Promise<number> =>
      Number((await warehouse.query`select sum(reserved) as held from budgets`)[0].held);
    const before = await held();
    const failed = matched(client);
    await expect(failed).rejects.toMatchObject({ next: expect.not.stringContaining('attempts') as string });
    expect(await held()).toBe(before + 2);
  },
);

it('matchPerson() returns the person and keeps its reservation if the answer states an impossible price', async () => {
  await warehouse.query`truncate suppression_entries cascade`;
  const client = {
    match: async () => ({
      person: { id: 'p2' },
      creditsConsumed: creditsFromWhole(90_000_000_000_000),
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
