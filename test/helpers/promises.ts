import { expect } from 'vitest';
import type { TestHouse } from './command-line.ts';

/**
 * The five promises as far as a run without late results can break them, held against the sandbox's own log of every call,
 * person and credit.
 */
export async function expectPromisesKept({ warehouse, sandbox }: TestHouse): Promise<void> {
  const rowsOf = async <Row>(statement: string): Promise<Row[]> =>
    (await warehouse.pool.query(statement)).rows as Row[];

  // Money: each call that was settled is settled for what it was billed, and the rest of the bill is still held.
  const calls = sandbox.log.calls();
  const billedFor = new Map(calls.map((call) => [call.requestId, Number(call.credits)]));
  const attempts = await rowsOf<{
    request_id: string | null;
    status: string;
    settled: number | null;
    reserved: number;
  }>(
    `select request_id, status, credits_settled::float8 as settled, credits_reserved::float8 as reserved from enrichment.attempts`,
  );
  for (const attempt of attempts.filter((each) => each.status === 'settled')) {
    expect(attempt.settled).toBe(billedFor.get(attempt.request_id));
  }
  const sum = (values: readonly (number | null)[]): number =>
    values.reduce<number>((total, value) => total + (value ?? 0), 0);
  const bill = Number(sandbox.log.bill().credits);
  const settled = sum(attempts.map((attempt) => attempt.settled));
  const held = sum(
    attempts.filter((attempt) => attempt.status === 'unknown').map((attempt) => attempt.reserved),
  );
  expect(settled).toBeLessThanOrEqual(bill);
  expect(bill - settled).toBeLessThanOrEqual(held);
  expect(attempts.filter((attempt) => attempt.status === 'admitted')).toEqual([]);

  // Money: budgets say the same as the attempts, and none is exceeded.
  const budgets = await rowsOf<{ budget: string; over: boolean; wrong: boolean }>(`
    select b.budget_id as budget, coalesce(b.settled + b.reserved > b.credits_limit, false) as over,
      b.settled <> coalesce(sum(a.credits_settled), 0) or b.reserved <> coalesce(sum(a.credits_reserved) filter (where a.credits_settled is null), 0) as wrong
    from enrichment.budgets b left join enrichment.attempts a on b.budget_id = any(a.budget_ids) group by b.budget_id`);
  expect(budgets.filter((budget) => budget.over || budget.wrong)).toEqual([]);

  // Rows: every row of a run that has ended has exactly one outcome.
  const openRows = await rowsOf(
    `select r.row_number from enrichment.run_rows r join enrichment.runs using (run_id) where status = 'finished' and outcome is null`,
  );
  expect(openRows).toEqual([]);

  // Identity: nobody has the data of a person of another name.
  const strangers = await rowsOf(`
    select c.contact_id from enrichment.enriched_contacts c
    join enrichment.run_rows r on r.run_id = c.run_id and r.row_number = c.row_number
    where lower(c.first_name) <> lower(r.first_name) and lower(c.last_name) <> lower(r.last_name)`);
  expect(strangers).toEqual([]);
}
