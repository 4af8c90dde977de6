import { sql } from 'kysely';
import { expect } from 'vitest';
import { weakEvidence } from '../../../src/domain/identity/identity-evidence.ts';
import { parseRateLimits } from '../../../src/domain/rates/rate-limit.ts';
import type { LateResult, Store } from '../../../src/sandbox/store.ts';
import type { TestSystem } from './test-system.ts';

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
  const ofLateResults = new Set(
    sandbox.log
      .lateResults()
      .flatMap(deliveredFacts)
      .map(({ fact }) => fact),
  );
  const phones = await rowsOf<{ fact: string }>(
    `select person_id || ' ' || number as fact from enrichment.person_phones`,
  );
  expect(phones.filter(({ fact }) => !ofLateResults.has(fact))).toEqual([]);

  // Identity: no contact has the data of a person with another name.
  const strangers = await rowsOf(`
    select c.contact_id from enrichment.enriched_contacts c
    join enrichment.run_rows r on r.run_id = c.run_id and r.row_number = c.row_number
    where lower(c.first_name) <> lower(r.first_name) and lower(c.last_name) <> lower(r.last_name)`);
  expect(strangers).toEqual([]);

  // Value: paid data is in the log and in each contact that it belongs to.
  const unlogged = await rowsOf(`
    select p.attempt_id, p.row_number
    from enrichment.attempt_people p join enrichment.run_rows r using (run_id, row_number)
    join enrichment.runs u using (run_id)
    join enrichment.attempts a using (attempt_id)
    where p.outcome = 'enriched' and r.outcome = 'enriched' and r.contact_id !~ '^erased:'
      and u.answers_discarded_at is null and not (
      exists (select 1 from enrichment.observations o
        where o.attempt_id = p.attempt_id and o.kind = 'answer' and o.person_id is not distinct from p.person_id)
      -- The match names the newest call for the contact.
      and exists (select 1 from enrichment.contact_matches m join enrichment.attempts newest using (attempt_id)
        where m.source = u.source and m.contact_id = r.contact_id and newest.admitted_at >= a.admitted_at))`);
  expect(unlogged).toEqual([]);

  const withheld = await warehouse.database.transaction().execute(async (transaction) => {
    // Without statistics PostgreSQL would compare each accepted row with each duplicate: hours for 20,000 rows.
    await sql`set local enable_nestloop = off`.execute(transaction);
    return (await sql.raw(withheldContacts).execute(transaction)).rows;
  });
  expect(withheld).toEqual([]);

  // Late results: each phone number and e-mail that the service delivered for an accepted person.
  const withPerson = await rowsOf<{ request_id: string; person_id: string }>(`
    select distinct a.request_id, p.person_id
    from enrichment.attempts a
    join enrichment.attempt_people p using (attempt_id)
    join enrichment.runs r on r.run_id = a.run_id and r.undone_at is null
    join enrichment.enriched_contacts c on c.person_id = p.person_id
    where p.outcome = 'enriched' and a.request_id is not null
      and not exists (select 1 from enrichment.webhook_deliveries d
        where d.attempt_id = a.attempt_id and d.status = 'received')`);
  const known = await rowsOf<{ fact: string }>(`
    select person_id || ' ' || number as fact from enrichment.person_phones
    union select person_id || ' ' || lower(email) from enrichment.person_emails`);
  const facts = new Set(known.map(({ fact }) => fact));
  const isAccepted = new Set(withPerson.map((row) => `${row.request_id} ${row.person_id}`));
  const missing = sandbox.log
    .lateResults()
    .filter(({ delivered, rule }) => delivered && rule.body === undefined)
    .flatMap((result) =>
      deliveredFacts(result).filter(({ id }) => isAccepted.has(`${result.requestId} ${id}`)),
    )
    .filter(({ fact }) => !facts.has(fact));
  expect(missing).toEqual([]);
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

/**
 * Contacts without the person that the newest call accepted for them, or for another row with the same e-mail and name.
 * Leaves out contacts about which the identity rule decides later: contacts with other cells in another export, and
 * contacts with weak evidence that also fitted a second person later.
 */
const withheldContacts = `
  with accepted as (
    select distinct on (source, r.contact_id) runs.source, r.contact_id, r.row_number,
      p.run_id, p.person_id, p.evidence, lower(r.email) as email, lower(r.first_name) as first_name,
      lower(r.last_name) as last_name
    from enrichment.attempt_people p
    join enrichment.attempts a using (attempt_id)
    join enrichment.run_rows r on r.run_id = p.run_id and r.row_number = p.row_number
    join enrichment.runs on runs.run_id = p.run_id and runs.undone_at is null
    where p.outcome = 'enriched' and r.outcome = 'enriched' and p.person_id is not null
    order by source, r.contact_id, a.admitted_at desc
  ), expected as (
    select source, contact_id, run_id, person_id, evidence from accepted
    union
    select a.source, d.contact_id, a.run_id, a.person_id, a.evidence
    from accepted a
    join enrichment.runs on runs.run_id = a.run_id and runs.status = 'finished'
    join enrichment.run_rows d on d.run_id = a.run_id and d.outcome = 'duplicate' and lower(d.email) = a.email
      and lower(d.first_name) = a.first_name and lower(d.last_name) = a.last_name
    where a.evidence = 'email'
  )
  select e.source, e.contact_id, e.person_id, c.person_id as has
  from expected e
  left join enrichment.enriched_contacts c on c.source = e.source and c.contact_id = e.contact_id
  where c.person_id is distinct from e.person_id
    and (select count(*) from enrichment_internal.contact_records r
      where r.source = e.source and r.contact_id = e.contact_id) <= 1
    and not (e.evidence = '${weakEvidence}' and (
      select m.valid_to is not null from enrichment.contact_matches m
      where m.source = e.source and m.contact_id = e.contact_id
      order by m.match_id desc limit 1))
    and not exists (
      select from enrichment.run_rows own
      join enrichment.run_rows other on other.contact_id = own.contact_id and other.run_id <> own.run_id
      join enrichment.runs on runs.run_id = other.run_id
      where own.run_id = e.run_id
        and own.contact_id = e.contact_id
        and runs.source = e.source
        and row(other.email, other.first_name, other.last_name)
          is distinct from row(own.email, own.first_name, own.last_name))`;

/** Returns the phones and e-mails in a late result with their person; none for a body that a scenario has damaged. */
function deliveredFacts({ body, rule }: Pick<LateResult, 'body' | 'rule'>): { id: string; fact: string }[] {
  let people: readonly DeliveredPerson[] | undefined;
  try {
    ({ people } = JSON.parse(body) as { people?: readonly DeliveredPerson[] });
  } catch (error) {
    if (rule.body === undefined) throw error;
  }
  return (people ?? []).flatMap(({ id, phone_numbers: phones = [], emails = [] }) => [
    ...phones.map((phone) => ({ id, fact: `${id} ${phone.sanitized_number}` })),
    ...emails.map(({ email }) => ({ id, fact: `${id} ${email.toLowerCase()}` })),
  ]);
}

interface DeliveredPerson {
  readonly id: string;
  readonly phone_numbers?: readonly { readonly sanitized_number: string }[];
  readonly emails?: readonly { readonly email: string }[];
}
