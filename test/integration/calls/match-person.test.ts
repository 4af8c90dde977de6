import { createHash } from 'node:crypto';
import { expect, it, beforeEach } from 'vitest';
import { matchPerson } from '../../../src/calls/match-person.ts';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import { type ServiceClient, serviceOperations } from '../../../src/service/client.ts';
import { mapFailure } from '../../../src/service/failures/map-failure.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { appendContact } from '../../helpers/warehouse/write-facts.ts';
import { addToSuppressionList, runningRun } from '../../helpers/warehouse/rows.ts';
import { readAnswer } from '../../helpers/servers/test-client.ts';

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

/** The credits in all budgets: each call counts in the day budget and in the month budget. */
async function books(): Promise<{ readonly settled: number; readonly reserved: number }> {
  const rows = await warehouse.query`
    select coalesce(sum(settled), 0)::float8 as settled, coalesce(sum(reserved), 0)::float8 as reserved
    from budgets`;
  return rows[0];
}

beforeEach(() => warehouse.query`truncate suppression_entries cascade`);

it.each(['email:ada@home.example', 'profile:linkedin.com/in/ada', 'person:p1', 'domain:orbit.example'])(
  'matchPerson() returns no person if %s is on the suppression list, and settles the price',
  async (key) => {
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
    const { settled } = await books();
    await expect(matched(client)).rejects.toMatchObject({ type: 'match.found-suppressed' });
    expect(await books()).toMatchObject({ settled: settled + 2 });
  },
);

it.each([
  ['e-mail', { email: 'bo@orbit.example' }, 'email:bo@former.example'],
  ['hashed e-mail', { hashedEmail: createHash('md5').update('bo@orbit.example').digest('hex') }, 'person:bo'],
  ['id', { personId: 'bo' }, 'domain:orbit.example'],
])(
  'matchPerson() by %s sends no request if an earlier answer links the person to the suppression list',
  async (_, person, key) => {
    await warehouse.query`truncate contact_matches, contact_records, observation_log, people cascade`;
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
    const failure = mapFailure(readAnswer(body, status), serviceOperations.match);
    const client = { match: () => Promise.reject(failure) };
    const { reserved } = await books();
    const failed = matched(client);
    await expect(failed).rejects.toMatchObject({ next: expect.not.stringContaining('attempts') as string });
    expect(await books()).toMatchObject({ reserved: reserved + 2 });
  },
);

it('matchPerson() returns the person and keeps its reservation if the answer states an impossible price', async () => {
  const client = {
    match: async () => ({
      person: { id: 'p2' },
      creditsConsumed: creditsFromWhole(90_000_000_000_000),
      rateLimits: [],
    }),
  };
  const { settled, reserved } = await books();
  const answer = await matched(client);
  expect(answer.person).toEqual({ id: 'p2' });
  expect(await books()).toEqual({ settled, reserved: reserved + 2 });
});
