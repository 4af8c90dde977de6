import { sql, type Kysely } from 'kysely';
import { formatCredits, parseStoredCredits, type Credits } from '../domain/money/decimal.ts';
import type { Tables } from '../db/schema.ts';

/** Credits that the whole team has consumed by the service's own count, summed over all kinds of credits. */
export interface CreditStatement {
  /** Consumed credits; undefined if the count of one kind of credits cannot be read. */
  readonly consumed: Credits | undefined;
  readonly cycle: { readonly startDate: string | undefined; readonly endDate: string | undefined };
}

/** Compares the first and the last count of the service in a billing cycle with the ledger. Decimals are text. */
export interface Reconciliation {
  readonly cycle_start: string | null;
  readonly cycle_end: string | null;
  readonly from: Date;
  readonly to: Date;
  /** Credits consumed between the two readings, by the service's own count. */
  readonly billed: string;
  /** Credits that the ledger settled for calls between the two readings, including `stated`. */
  readonly settled: string;
  /** Credits that answers state for calls without a final cost. Runs show them as reserved or unknown. */
  readonly stated: string;
  /** Credits that are still reserved for calls between the two readings. */
  readonly held: string;
  /** Credits that stay reserved for calls of unknown cost. They are a part of `held`. */
  readonly unknown: string;
  /**
   * Billed credits that are neither settled nor held: spent by another program of the team or by a call that the ledger
   * does not know. Negative if the service has not billed everything yet.
   */
  readonly unexplained: string;
}

/** Adds up the service's counts. One unreadable count makes the sum undefined, because it would be too low. */
export function sumCreditStatement(usage: {
  readonly kinds: readonly { readonly consumed: Credits | undefined }[];
  readonly cycle: CreditStatement['cycle'];
}): CreditStatement {
  const figures = usage.kinds.map(({ consumed }) => consumed);
  const isComplete = figures.length > 0 && figures.every((figure) => figure !== undefined);
  return {
    consumed: isComplete ? figures.reduce<Credits>((sum, figure) => sum + (figure ?? 0n), 0n) : undefined,
    cycle: usage.cycle,
  };
}

/** Stores a reading of the service's count, for {@link reconcileCredits}. */
export async function recordCreditStatement(
  database: Kysely<Tables>,
  { service, runId }: { readonly service: string; readonly runId: string | null },
  { consumed, cycle }: CreditStatement,
): Promise<void> {
  // The service counts from the start of a billing cycle. A count without its cycle cannot be compared.
  if (consumed === undefined || cycle.startDate === undefined) return;
  await sql`
    insert into credit_statements (service, run_id, consumed, cycle_start, cycle_end)
    values (${service}, ${runId}, ${formatCredits(consumed)}, ${cycle.startDate}, ${cycle.endDate ?? null})
  `.execute(database);
}

/**
 * Compares the service's count with the ledger per billing cycle with two readings, the newest first. Only differences
 * are comparable, because the service counts the whole team. `enrich match` keeps no attempts: it is unexplained.
 */
export async function reconcileCredits(
  database: Kysely<Tables>,
  service: string,
): Promise<readonly Reconciliation[]> {
  const { rows } = await sql<Omit<Reconciliation, 'unexplained'>>`
    with cycles as (
      select cycle_start, cycle_end,
        min(read_at) as "from",
        max(read_at) as "to",
        (array_agg(consumed order by statement_id desc))[1] - (array_agg(consumed order by statement_id))[1] as billed
      from credit_statements
      where service = ${service}
      group by cycle_start, cycle_end
      having count(*) > 1
    )
    select c.cycle_start, c.cycle_end, c."from", c."to",
      trim_scale(c.billed)::text as billed,
      trim_scale(coalesce(l.settled, 0))::text as settled,
      trim_scale(coalesce(l.stated, 0))::text as stated,
      trim_scale(coalesce(l.held, 0))::text as held,
      trim_scale(coalesce(l.unknown, 0))::text as unknown
    from cycles c
    cross join lateral (
      select
        sum(coalesce(a.credits_settled, a.credits_answered)) as settled,
        sum(a.credits_answered) filter (where a.credits_settled is null) as stated,
        sum(a.credits_reserved - coalesce(a.credits_answered, 0)) filter (where a.credits_settled is null) as held,
        sum(a.credits_reserved) filter (where a.status = 'unknown') as unknown
      from attempts a
      join runs r using (run_id)
      where r.options ->> 'service' = ${service}
        and a.admitted_at > c."from"
        and a.admitted_at <= c."to"
    ) l
    order by c."to" desc
  `.execute(database);
  return rows.map((row) => {
    const unsettled = parseStoredCredits(row.billed) - parseStoredCredits(row.settled);
    const unheld = unsettled - parseStoredCredits(row.held);
    // A negative value means that settled credits are not billed yet, or that the service made a refund.
    const unexplained = unsettled < 0n ? unsettled : unheld > 0n ? unheld : 0n;
    return { ...row, unexplained: formatCredits(unexplained) };
  });
}
