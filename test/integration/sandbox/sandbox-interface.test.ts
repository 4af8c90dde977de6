import { errorSchema } from '../../../src/sandbox/interface/answer-schemas.ts';
import { afterAll, describe, expect, it } from 'vitest';
import { operations, type OperationName } from '../../../src/sandbox/interface/operations.ts';
import { Population } from '../../../src/sandbox/population/population.ts';
import { defaultApiKey, startSandbox } from '../../../src/sandbox/server/server.ts';

const options = { seed: 1, people: 1_000, matchRate: 0.8, ambiguousRate: 0 };
const population = new Population(options);
const known = population.numbered(7);

const sandbox = await startSandbox({
  ...options,
  rateLimits: '1000/minute,unlimited/hour',
  lateDelay: 0,
  // The windows are fixed ones: no minute may end between two calls that a test compares.
  now: () => Date.UTC(2026, 10, 21, 12),
});

afterAll(() => sandbox.close());

async function call(method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${sandbox.baseUrl}${path}`, {
    method,
    headers: { 'x-api-key': defaultApiKey, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

interface Usage {
  readonly limit: number | null;
  readonly consumed: number;
  readonly left_over: number | null;
}

async function usageOf(key: string): Promise<Record<'minute' | 'hour' | 'day', Usage>> {
  const usage = (await (await call('POST', '/usage_stats/api_usage_stats')).json()) as Record<string, never>;
  return usage[key]!;
}

const requests: Record<Exclude<OperationName, 'poll'>, readonly [path: string, body?: unknown]> = {
  match: [`/people/match?id=${known.id}&reveal_personal_emails=true`],
  bulkMatch: ['/people/bulk_match', { details: [{ id: known.id }, { id: 'nobody' }] }],
  searchPeople: ['/mixed_people/search', { per_page: 3 }],
  enrichOrganization: [`/organizations/enrich?domain=${known.organization.domain}`],
  health: ['/auth/health'],
  profile: ['/users/api_profile'],
  users: ['/users/search?per_page=2'],
  apiUsage: ['/usage_stats/api_usage_stats'],
  creditUsage: ['/usage_stats/credit_usage_stats'],
};

describe('every operation', () => {
  it.each(Object.entries(requests))(
    'the operation %s answers exactly what its schema describes',
    async (name, request) => {
      const operation = operations[name as OperationName];
      const answer: unknown = await (await call(operation.method, ...request)).json();
      // Parsing drops what a schema does not know: equal means that nothing was left out of it.
      expect(operation.answer.parse(answer)).toEqual(answer);
    },
  );

  it('the operation poll answers what its schema describes when the result exists', async () => {
    const webhook = encodeURIComponent('http://127.0.0.1:9/no-receiver');
    const asked = await call(
      'POST',
      `/people/match?id=${known.id}&reveal_phone_number=true&webhook_url=${webhook}`,
    );
    const requestId = /"request_id":(-?\d+)\}$/.exec(await asked.text())![1]!;
    await expect.poll(async () => (await call('GET', `/webhook_result/${requestId}`)).status).toBe(200);
    const text = await (await call('GET', `/webhook_result/${requestId}`)).text();
    expect(text).toContain(`"request_id":${requestId}`);
    expect(operations.poll.answer.parse(JSON.parse(text))).toEqual(JSON.parse(text));
  });

  it('the operation poll answers with one person when a call has named the person twice', async () => {
    const { id } = population.numbered(8);
    const webhook = encodeURIComponent('http://127.0.0.1:9/no-receiver');
    const asked = await call('POST', `/people/bulk_match?reveal_phone_number=true&webhook_url=${webhook}`, {
      details: [{ id }, { id }],
    });
    const requestId = /"request_id":(-?\d+),"matches"/.exec(await asked.text())![1]!;
    const poll = (): Promise<Response> => call('GET', `/webhook_result/${requestId}`);
    await expect.poll(async () => (await poll()).status).toBe(200);
    expect(await (await poll()).json()).toMatchObject({
      webhook_result: { unique_enriched_records: 1, people: [{ id }] },
    });
  });
});

it('usage statistics agree with the headers and the log', async () => {
  const answer = await call('POST', '/people/bulk_match', { details: [{ id: 'nobody' }] });
  const { minute, hour, day } = await usageOf('["api/v1/people", "bulk_match"]');
  const logged = sandbox.log.calls().filter((each) => each.path === '/people/bulk_match').length;
  expect(minute).toEqual({ limit: 1_000, consumed: logged, left_over: 1_000 - logged });
  expect(String(minute.consumed)).toBe(answer.headers.get('x-minute-usage'));
  expect(hour).toEqual({ limit: null, consumed: logged, left_over: null });
  expect(day).toEqual({ limit: null, consumed: logged, left_over: null });
});

it('usage statistics agree with the credits of the bill', async () => {
  await call('POST', `/people/match?id=${known.id}`);
  const usage = await (await call('POST', '/usage_stats/credit_usage_stats')).json();
  expect(usage).toMatchObject({
    credit_usage_stats: { enrichment: { consumed: Number(sandbox.log.bill().credits) } },
  });
});

it('usage statistics cost nothing and are in no window', async () => {
  const before = sandbox.log.bill();
  await usageOf('["api/v1/people", "match"]');
  expect(sandbox.log.bill()).toMatchObject({ calls: before.calls, credits: before.credits });
});

it('an unlimited window has empty headers', async () => {
  const { headers } = await call('POST', `/people/match?id=${known.id}`);
  expect([headers.get('x-rate-limit-hourly'), headers.get('x-hourly-requests-left')]).toEqual(['', '']);
  expect(headers.get('x-rate-limit-24-hour')).toBeNull();
});

interface Found {
  readonly people: readonly { readonly id: string; readonly person_id: string; readonly title: string }[];
  readonly pagination: { readonly total_entries: number; readonly total_pages: number };
}

async function search(body: object): Promise<Found> {
  return (await (await call('POST', '/mixed_people/search', body)).json()) as Found;
}

it('people search pages through all people once', async () => {
  const first = await search({ per_page: 100 });
  expect(first.pagination).toMatchObject({ total_entries: 1_000, total_pages: 10 });
  const ids = new Set<string>();
  for (let page = 1; page <= first.pagination.total_pages; page += 1)
    for (const { id } of (await search({ per_page: 100, page })).people) ids.add(id);
  expect(ids.size).toBe(1_000);
  expect((await search({ per_page: 100, page: 11 })).people).toEqual([]);
});

it('people search finds titles and employers, and counts them', async () => {
  const { title, organization } = known;
  const titled = await search({ person_titles: [title.toUpperCase()], per_page: 100 });
  expect(new Set(titled.people.map((person) => person.title))).toEqual(new Set([title]));
  const everybody = Array.from({ length: 1_000 }, (_, number) => population.numbered(number));
  expect(titled.pagination.total_entries).toBe(everybody.filter((each) => each.title === title).length);
  const colleagues = everybody.filter((each) => each.organization.domain === organization.domain);
  const employed = await search({ organization_domains: [organization.domain], per_page: 100 });
  expect(employed.people.map(({ id }) => id).sort()).toEqual(colleagues.map(({ id }) => id).sort());
});

it('people search returns the id that people enrichment accepts, and no address', async () => {
  const [person] = (await search({ per_page: 1 })).people;
  expect(person!.person_id).toBe(person!.id);
  expect(JSON.stringify(person)).not.toContain(population.find({ id: person!.id })!.email ?? '@');
  const enriched = await (await call('POST', `/people/match?id=${person!.person_id}`)).json();
  expect(enriched).toMatchObject({ person: { id: person!.id } });
});

it.each([{ page: 0 }, { per_page: 101 }, { page: 'two' }])('people search refuses %o', async (body) => {
  expect((await call('POST', '/mixed_people/search', body)).status).toBe(422);
});

it('company enrichment refuses a call without a domain by error_details only, before the cut-over too', async () => {
  const answer = await call('GET', '/organizations/enrich');
  expect(answer.status).toBe(422);
  expect(Object.keys((await answer.json()) as object)).toEqual(['error_details']);
});

it('company enrichment finds nothing for an invalid domain', async () => {
  expect(await (await call('GET', '/organizations/enrich?domain=nonsense')).json()).toEqual({
    organization: null,
  });
});

it('people enrichment refuses phones without a webhook, and names the parameter', async () => {
  const answer = await call('POST', '/people/bulk_match?reveal_phone_number=true', {
    details: [{ id: known.id }],
  });
  expect(answer.status).toBe(422);
  expect(await answer.json()).toMatchObject({
    error_details: { suggestions: [{ parameter: 'webhook_url' }] },
  });
});

it.each([
  [{ details: [] }, 400, 'INVALID_REQUEST'],
  [{ details: Array.from({ length: 11 }, () => ({ id: 'x' })) }, 400, 'RECORD_LIMIT_EXCEEDED'],
])('people enrichment refuses too few and too many people', async (body, status, code) => {
  const answer = await call('POST', '/people/bulk_match', body);
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({ status: 'failed', error_code: code });
});

it.each([
  ['an unknown path', '/nowhere', '', 404],
  ['a path that is not encoded well', '/webhook_result/%zz', '', 404],
  ['a body that is too large', '/people/bulk_match', 'x'.repeat(1_100_000), 422],
])('a request to %s is refused in the shape of all errors', async (_name, path, body, status) => {
  const answer = await call('POST', path, body);
  expect(answer.status).toBe(status);
  const refusal = (await answer.json()) as object;
  expect(refusal).toMatchObject({ error_details: { code: expect.any(String) } });
  expect(errorSchema.strict().safeParse(refusal).error).toBeUndefined();
});

it('personal addresses of people in a region under the GDPR are not revealed', async () => {
  const details = Array.from({ length: 10 }, (_, number) => ({ id: population.numbered(number).id }));
  const answer = await call('POST', '/people/bulk_match?reveal_personal_emails=true', { details });
  const { matches } = (await answer.json()) as {
    matches: { country: string; personal_emails: string[] }[];
  };
  const regulated = ['Norway', 'Germany', 'Ireland'];
  for (const { country, personal_emails: addresses } of matches)
    expect([country, addresses.length]).toEqual([country, regulated.includes(country) ? 0 : 1]);
  expect(new Set(matches.map(({ country }) => regulated.includes(country))).size).toBe(2);
});
