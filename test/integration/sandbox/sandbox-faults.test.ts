import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Population } from '../../../src/sandbox/population/population.ts';
import type { FaultsToProduce, Rule } from '../../../src/sandbox/faults/scenario.ts';
import { defaultApiKey, startSandbox } from '../../../src/sandbox/server/server.ts';

const known = new Population({ seed: 1, people: 100, matchRate: 0, ambiguousRate: 0 });
const start = Date.UTC(2026, 10, 21, 12);
let clock = start;

const sandbox = await startSandbox({ people: 100, rateLimits: '1000/hour', now: () => clock });

beforeEach(() => {
  clock = start;
  sandbox.faults.set({});
});

afterAll(() => sandbox.close());

async function ask(people = 1): Promise<Response> {
  const details = Array.from({ length: people }, (_, number) => ({ id: known.numbered(number).id }));
  return fetch(`${sandbox.baseUrl}/people/bulk_match`, {
    method: 'POST',
    headers: { 'x-api-key': defaultApiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ details }),
  });
}

interface Person {
  readonly id: string;
  readonly email: string;
  readonly organization: { readonly name: string };
}

async function under(rule: Rule): Promise<Response> {
  sandbox.faults.set({ rules: [rule] });
  return ask();
}

it.each<[string, NonNullable<Rule['retry_after']>, string]>([
  ['zero', '0', '0'],
  ['huge', '99999999999', '99999999999'],
  ['negative', '-5', '-5'],
  ['text', 'soon', 'soon'],
  ['a date', { date: 90 }, 'Sat, 21 Nov 2026 12:01:30 GMT'],
])('a 429 of the sandbox has a retry-after that is %s', async (_name, retry_after, header) => {
  const answer = await under({ status: 429, retry_after });
  expect(answer.headers.get('retry-after')).toBe(header);
});

it('a 429 of the sandbox has no retry-after in the header and in the body', async () => {
  const answer = await under({ status: 429, retry_after: null });
  expect(answer.headers.get('retry-after')).toBeNull();
  expect(await answer.text()).not.toContain('retry_after_seconds');
});

it('a 429 of the sandbox has the date of the clock that its retry-after uses', async () => {
  const { headers } = await under({ status: 429, retry_after: { date: 90 } });
  expect(Date.parse(headers.get('retry-after')!) - Date.parse(headers.get('date')!)).toBe(90_000);
});

it('a 429 of the sandbox has a body that is encoded twice', async () => {
  const body: unknown = await (await under({ status: 429, encoded_twice: true })).json();
  expect(JSON.parse(body as string)).toHaveProperty('message');
});

it('a 429 of the sandbox takes no slot of a window and is logged as refused', async () => {
  const used = async () => Number((await ask()).headers.get('x-hourly-usage'));
  const before = await used();
  const { refused } = sandbox.log.bill();
  await under({ status: 429 });
  sandbox.faults.set({});
  expect(await used()).toBe(before + 1);
  expect(sandbox.log.bill().refused).toBe(refused + 1);
});

it('a quota that others use is in the headers and usage statistics, and refuses earlier', async () => {
  const own = Number((await ask()).headers.get('x-hourly-usage'));
  const others = 1_000 - own - 2;
  sandbox.faults.set({ rules: [{ path: '/people/bulk_match', used_by_others: others }] });
  expect((await ask()).headers.get('x-hourly-requests-left')).toBe('1');
  const usage = await fetch(`${sandbox.baseUrl}/usage_stats/api_usage_stats`, {
    method: 'POST',
    headers: { 'x-api-key': defaultApiKey },
  });
  expect(await usage.json()).toMatchObject({
    '["api/v1/people", "bulk_match"]': { hour: { consumed: 999, left_over: 1 } },
  });
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
});

describe('an account without credits', () => {
  it.each([
    [402, 'INSUFFICIENT_CREDITS'],
    [403, 'CREDITS_EXHAUSTED'],
    [200, 'INSUFFICIENT_CREDITS'],
  ] as const)('an account without credits is refused with %i', async (status, code) => {
    const credits = sandbox.log.bill().credits;
    const answer = await under({ out_of_credits: status });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error_code: code });
    expect(sandbox.log.bill().credits).toBe(credits);
  });

  it('an account bills its credits, refuses calls beyond them, and continues after new credits', async () => {
    const scenario: FaultsToProduce = { credits_left: 5, out_of_credits: 403 };
    sandbox.faults.set(scenario);
    expect([(await ask(3)).status, (await ask(3)).status, (await ask(2)).status]).toEqual([200, 403, 200]);
    expect((await ask(1)).status).toBe(403);
    sandbox.faults.set(scenario);
    expect((await ask(3)).status).toBe(200);
  });
});

describe('a rule', () => {
  it('a rule of a scenario ends after its seconds', async () => {
    expect((await under({ status: 401, for_seconds: 30 })).status).toBe(401);
    clock += 30_000;
    expect((await ask()).status).toBe(200);
  });

  it('a rule of a scenario makes its people larger than others', async () => {
    const usual = (await (await ask()).text()).length;
    const heavy = (await (await under({ person_bytes: 60_000 })).text()).length;
    expect(usual).toBeLessThan(8_000);
    expect(heavy).toBeGreaterThan(55_000);
  });

  it('job_changes of a scenario makes people answer with an employer and an address since today', async () => {
    const personOf = async (response: Response): Promise<Person> =>
      ((await response.json()) as { matches: [Person] }).matches[0];
    const before = await personOf(await ask());
    const after = await personOf(await under({ job_changes: 1 }));
    expect(after).toMatchObject({
      id: before.id,
      employment_history: [
        { current: true, organization_name: after.organization.name, start_date: '2026-11-21' },
        { current: false, organization_name: before.organization.name, end_date: '2026-11-21' },
      ],
    });
    expect(after.organization.name).not.toBe(before.organization.name);
    expect(after.email).not.toBe(before.email);
  });

  it('a rule of a scenario applies to account operations too', async () => {
    sandbox.faults.set({ rules: [{ path: '/users/api_profile', status: 401 }] });
    const profile = await fetch(`${sandbox.baseUrl}/users/api_profile`, {
      headers: { 'x-api-key': defaultApiKey },
    });
    expect(profile.status).toBe(401);
  });
});

it.each(['{"rules":[{"statsu":401}]}', 'rules: []'])(
  'PUT /sandbox/scenario refuses %s and keeps the active scenario',
  async (body) => {
    sandbox.faults.set({ rules: [{ status: 418 }] });
    const answer = await fetch(`${sandbox.controlUrl}/scenario`, { method: 'PUT', body });
    expect(answer.status).toBe(422);
    expect((await ask()).status).toBe(418);
  },
);
