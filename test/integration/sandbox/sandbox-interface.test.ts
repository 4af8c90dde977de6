import { afterAll, beforeEach, expect, it } from 'vitest';
import type { Scenario } from '../../../src/sandbox/faults.ts';
import { Population } from '../../../src/sandbox/population.ts';
import { defaultApiKey } from '../../../src/sandbox/server.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import documented from '../../unit/service/documented-fields.json' with { type: 'json' };

const population = new Population();
const known = population.numbered(7);
const beforeCutOver = Date.UTC(2026, 10, 21, 12);
let clock = beforeCutOver;

const sandbox = await startSandbox({
  rateLimits: '1000/minute,unlimited/hour',
  lateDelay: 0,
  // The windows are fixed ones: no minute may end between two calls that a test compares.
  now: () => clock,
});

beforeEach(() => {
  clock = beforeCutOver;
  sandbox.faults.set({});
});

afterAll(() => sandbox.close());

type Headers = Readonly<Record<string, string>>;

function call(method: string, path: string, body?: unknown, headers?: Headers): Promise<Response> {
  return fetch(`${sandbox.baseUrl}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(headers ?? { 'x-api-key': defaultApiKey }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

function ask(people = 1): Promise<Response> {
  const details = Array.from({ length: people }, (_, number) => ({ id: population.numbered(number).id }));
  return call('POST', '/people/bulk_match', { details });
}

async function jsonOf<Json>(answer: Response | Promise<Response>): Promise<Json> {
  return (await (await answer).json()) as Json;
}

interface Person extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly email: string;
  readonly country: string;
  readonly personal_emails: readonly string[];
  readonly organization: { readonly name: string };
}

/** Its documented fields that a record of an answer does not have. */
function missingIn(record: unknown, name: keyof typeof documented): string[] {
  const fields = Object.values(documented[name]).join(' ').split(' ');
  return fields.filter((field) => !(field in (record as object)));
}

it('people of the sandbox have every field of the interface document', async () => {
  const query = `id=${known.id}`;
  const { person } = await jsonOf<{ person: Person }>(call('POST', `/people/match?${query}`));
  const { matches } = await jsonOf<{ matches: [Person] }>(
    call('POST', '/people/bulk_match', { details: [{ id: known.id }] }),
  );
  expect(missingIn({ ...matches[0], ...person }, 'person')).toEqual([]);
  expect(missingIn(person.organization, 'organization')).toEqual([]);
  expect(missingIn(person['contact'], 'contact')).toEqual([]);
  expect(missingIn(matches[0]['account'], 'account')).toEqual([]);
});

it('the sandbox reveals personal e-mails only of people outside the GDPR', async () => {
  const details = Array.from({ length: 10 }, (_, number) => ({ id: population.numbered(number).id }));
  const { matches } = await jsonOf<{ matches: Person[] }>(
    call('POST', '/people/bulk_match?reveal_personal_emails=true', { details }),
  );
  for (const { country, personal_emails: emails } of matches)
    expect([country, emails.length]).toEqual([
      country,
      ['United States', 'Canada'].includes(country) ? 1 : 0,
    ]);
  expect(new Set(matches.map(({ country }) => country)).size).toBe(6);
});

it('the sandbox refuses a phone request without a webhook, and names the parameter webhook_url', async () => {
  const details = [{ id: known.id }];
  const answer = await call('POST', '/people/bulk_match?reveal_phone_number=true', { details });
  expect(answer.status).toBe(422);
  expect(await answer.json()).toMatchObject({
    error_details: { suggestions: [{ parameter: 'webhook_url' }] },
  });
});

it('the sandbox refuses with old and new error fields before the cut-over, and with new fields after it', async () => {
  sandbox.faults.set({ rules: [{ status: 403 }] });
  const refused = () => jsonOf<object>(ask());
  expect(await refused()).toMatchObject({ error_code: 'API_INACCESSIBLE' });
  expect(Object.keys(await refused())).toEqual(['error', 'error_code', 'message', 'error_details']);
  clock = Date.UTC(2027, 1, 16);
  expect(Object.keys(await refused())).toEqual(['error_details']);
});

const usageOf = async () => {
  const usage = await jsonOf<Record<string, unknown>>(call('POST', '/usage_stats/api_usage_stats'));
  return usage['["api/v1/people", "bulk_match"]'];
};

it('usage statistics of the sandbox agree with its headers and its bill, and cost nothing', async () => {
  const { headers } = await ask();
  const { calls, credits } = sandbox.log.bill();
  const logged = sandbox.log.calls().filter((each) => each.path === '/people/bulk_match');
  const consumed = logged.length;
  expect(await usageOf()).toEqual({
    minute: { limit: 1_000, consumed, left_over: 1_000 - consumed },
    hour: { limit: null, consumed, left_over: null },
    day: { limit: null, consumed, left_over: null },
  });
  expect(headers.get('x-minute-usage')).toBe(String(consumed));
  expect(await jsonOf(call('POST', '/usage_stats/credit_usage_stats'))).toMatchObject({
    credit_usage_stats: { enrichment: { consumed: Number(credits) } },
  });
  expect(sandbox.log.bill()).toMatchObject({ calls, credits });
});

it('used_by_others lowers the calls left in headers and statistics of the sandbox, until a 429', async () => {
  const own = Number((await ask()).headers.get('x-minute-usage'));
  sandbox.faults.set({ rules: [{ path: '/people/bulk_match', used_by_others: 998 - own }] });
  expect((await ask()).headers.get('x-minute-requests-left')).toBe('1');
  expect(await usageOf()).toMatchObject({ minute: { consumed: 999, left_over: 1 } });
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 429]);
});

it.each([
  [402, 'INSUFFICIENT_CREDITS'],
  [403, 'CREDITS_EXHAUSTED'],
  [200, 'INSUFFICIENT_CREDITS'],
] as const)(
  'the sandbox refuses calls beyond the credits of the account with %i, and bills nothing for them',
  async (status, code) => {
    const scenario: Scenario = { credits_left: 5, out_of_credits: status };
    sandbox.faults.set(scenario);
    const before = Number(sandbox.log.bill().credits);
    await ask(3);
    const refused = await ask(3);
    expect(refused.status).toBe(status);
    expect(await refused.json()).toMatchObject({ error_code: code });
    expect((await ask(2)).status).toBe(200);
    expect(Number(sandbox.log.bill().credits) - before).toBe(5);
    sandbox.faults.set(scenario);
    expect((await ask(3)).status).toBe(200);
  },
);

it.each(['{"rules":[{"statsu":401}]}', 'rules: []'])(
  'PUT /sandbox/scenario refuses %s and keeps the active scenario',
  async (body) => {
    sandbox.faults.set({ rules: [{ status: 418 }] });
    const answer = await fetch(`${sandbox.controlUrl}/scenario`, { method: 'PUT', body });
    expect(answer.status).toBe(422);
    expect((await ask()).status).toBe(418);
  },
);
