import { expect } from 'vitest';
import { parseRateLimits } from '../../../src/domain/rates/rate-limit.ts';
import type { Store } from '../../../src/sandbox/store.ts';
import type { TestSystem } from './test-system.ts';
import { expectValueKept } from './value-promise.ts';

/** The sandbox's own record of a pipeline's calls. */
export interface Witness {
  readonly log: Pick<Store, 'calls' | 'lateResults' | 'bill' | 'deliveries'>;
}

/** Endpoints whose calls the service counts separately. */
const countedPaths = ['/people/bulk_match', '/webhook_result'];

/**
 * Checks the six promises against the sandbox's own log of every call, person and credit.
 *
 * @param rateLimits the RATE_LIMITS of all commands of the test; the default if the test set none
 */
export async function expectPromisesKept(
  { warehouse, sandbox }: Pick<TestSystem, 'warehouse'> & { readonly sandbox: Witness },
  rateLimits = '600/hour',
): Promise<void> {
  const rowsOf = async <Row>(statement: string): Promise<Row[]> =>
    (await warehouse.pool.query(statement)).rows as Row[];

  // Money: each settled call has the billed credits, late results included, and other calls still hold theirs.
  const billedFor = new Map<string | null, number>();
  const lateResults = sandbox.log.lateResults().filter(({ billedAt }) => billedAt !== null);
  for (const entry of [...sandbox.log.calls(), ...lateResults])
    billedFor.set(entry.requestId, (billedFor.get(entry.requestId) ?? 0) + millionths(entry.credits));
  const attempts = await rowsOf<{
    request_id: string | null;
    status: string;
    settled: string | null;
    reserved: string;
  }>(
    'select request_id, status, credits_settled::text as settled, credits_reserved::text as reserved ' +
      'from enrichment.attempts',
  );
  for (const attempt of attempts.filter((each) => each.status === 'settled')) {
    expect(millionths(attempt.settled ?? '')).toBe(billedFor.get(attempt.request_id));
  }
  const sum = (values: readonly (string | null)[]): number =>
    values.reduce((total, value) => total + millionths(value ?? '0'), 0);
  const bill = millionths(sandbox.log.bill().credits);
  const settled = sum(attempts.map((attempt) => attempt.settled));
  const held = sum(
    attempts
      .filter((attempt) => attempt.status === 'unknown' || attempt.status === 'awaiting')
      .map((attempt) => attempt.reserved),
  );
  expect(settled).toBeLessThanOrEqual(bill);
  expect(bill - settled).toBeLessThanOrEqual(held);
  expect(attempts.filter((attempt) => attempt.status === 'admitted')).toEqual([]);

  // Money: budgets equal the sums of the attempts, and none is exceeded.
  const budgets = await rowsOf<{ budget: string; over: boolean; wrong: boolean }>(`
    select b.budget_id as budget, coalesce(b.settled + b.reserved > b.credits_limit, false) as over,
      b.settled <> coalesce(sum(a.credits_settled), 0)
        or b.reserved <> coalesce(sum(a.credits_reserved) filter (where a.credits_settled is null), 0) as wrong
    from enrichment.budgets b left join enrichment.attempts a on b.budget_id = any(a.budget_ids) group by b.budget_id`);
  expect(budgets.filter((budget) => budget.over || budget.wrong)).toEqual([]);

  // Limit: no trailing window had more calls than allowed, by the service's arrival times.
  for (const { calls, seconds } of parseRateLimits(rateLimits))
    for (const path of countedPaths)
      expect(maxCallsInWindow(sandbox, seconds, path)).toBeLessThanOrEqual(calls);

  // Rows: every row of an ended run has exactly one outcome, and the outcomes add up to the rows of the file.
  const unequal = await rowsOf(`
    select run_id, rows_staged, count(outcome) as outcomes
    from enrichment.runs
    left join enrichment.run_rows r using (run_id)
    where status in ('finished', 'cancelled')
    group by run_id
    having count(outcome) <> rows_staged or count(r.run_id) <> rows_staged`);
  expect(unequal).toEqual([]);

  // Custody: every delivery with a 2xx answer is stored, and is applied at most once.
  const accepted = new Map<string, number>();
  for (const { requestId, status } of sandbox.log.deliveries())
    if (status >= 200 && status < 300) accepted.set(requestId, (accepted.get(requestId) ?? 0) + 1);
  const stored = await rowsOf<{ request_id: string; deliveries: number }>(`
    select request_id, count(*)::int as deliveries
    from enrichment.webhook_deliveries
    join enrichment.attempts using (attempt_id)
    where origin = 'webhook' and request_id is not null group by 1`);
  const storedFor = new Map(stored.map((row) => [row.request_id, row.deliveries]));
  const answered = new Set(attempts.map((attempt) => attempt.request_id));
  const lost = [...accepted].filter(
    ([requestId, count]) => answered.has(requestId) && (storedFor.get(requestId) ?? 0) < count,
  );
  expect(lost).toEqual([]);
  const twice = await rowsOf(`
    select attempt_id, body_sha256 from enrichment.webhook_deliveries where status = 'applied' and origin = 'webhook'
    group by attempt_id, body_sha256 having count(*) > 1`);
  expect(twice).toEqual([]);

  // Identity: the service delivered every phone for the contact's own person.
  const phonesOf = new Map<string, Set<string>>();
  for (const { body } of sandbox.log.lateResults()) {
    for (const person of peopleOf(body)) {
      const numbers = phonesOf.get(person.id) ?? new Set();
      for (const phone of person.phone_numbers ?? []) numbers.add(phone.sanitized_number);
      phonesOf.set(person.id, numbers);
    }
  }
  const phones = await rowsOf<{ person_id: string; number: string }>(
    `select person_id, number from enrichment.person_phones`,
  );
  expect(phones.filter(({ person_id: id, number }) => !phonesOf.get(id)?.has(number))).toEqual([]);

  // Identity: no contact has the data of a person with another name.
  const strangers = await rowsOf(`
    select c.contact_id from enrichment.enriched_contacts c
    join enrichment.run_rows r on r.run_id = c.run_id and r.row_number = c.row_number
    where lower(c.first_name) <> lower(r.first_name) and lower(c.last_name) <> lower(r.last_name)`);
  expect(strangers).toEqual([]);

  await expectValueKept({ warehouse, sandbox });
}

/** Returns the maximum number of calls of a path in any trailing window, by their times of arrival. */
export function maxCallsInWindow({ log }: Witness, seconds: number, path = '/people/bulk_match'): number {
  const times = log
    .calls()
    .filter((call) => call.path === path)
    .map(({ at }) => at)
    .sort((one, other) => one - other);
  let most = 0;
  let first = 0;
  for (const [last, at] of times.entries()) {
    while (times[first]! <= at - seconds * 1_000) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** Sums whole numbers, because sums of fractions differ in their last digits. */
function millionths(credits: string): number {
  return Math.round(Number(credits) * 1_000_000);
}

interface DeliveredPerson {
  readonly id: string;
  readonly phone_numbers?: readonly { readonly sanitized_number: string }[];
}

/** Returns the people of a delivered body; none for a body that a scenario has damaged. */
function peopleOf(body: string): readonly DeliveredPerson[] {
  try {
    return (JSON.parse(body) as { people?: DeliveredPerson[] }).people ?? [];
  } catch {
    return [];
  }
}
