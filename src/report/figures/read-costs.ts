import { sql, type Kysely } from 'kysely';
import { lateKinds, lateKindsOf } from '../../domain/late-results/delivery-kinds.ts';
import { switchboard } from '../../domain/identity/values/phone.ts';
import { formatCredits, storedCredits } from '../../domain/money/decimal.ts';
import type { RunRecord } from '../../runs/runs.ts';
import type { Tables } from '../../db/schema.ts';
import type { ReportedCredits, FieldCost } from '../report-types.ts';

/**
 * Reads the cost of a contact, a verified email and a phone among the rows that the run enriched, with the
 * current values of the warehouse.
 *
 * Phones are charged with their deliveries, emails with everything else. The price of a waterfall for both is
 * one sum that cannot be divided, so both are charged with it in full. A switchboard is no phone of the person: the
 * service bills nothing for it.
 *
 * @returns no costs if retention has removed rows of the run
 */
export async function readCosts(
  database: Kysely<Tables>,
  run: RunRecord,
  { settled, held }: ReportedCredits,
): Promise<FieldCost[]> {
  if (run.outcomes !== null) return [];
  const counted = await sql<{ contacts: number; emails: number; phones: number }>`
    select count(*)::int as contacts, count(*) filter (where lower(c.email_status) = 'verified')::int as emails,
      count(*) filter (where exists (
        select from contact_phones n
        where n.source = c.source and n.contact_id = c.contact_id and n.is_first
          and lower(n.type) is distinct from ${switchboard}))::int as phones
    from run_rows r
    join enriched_contacts c on c.source = ${run.source} and c.contact_id = r.contact_id
    where r.run_id = ${run.runId} and r.outcome = 'enriched'
  `.execute(database);
  const { contacts, emails, phones } = counted.rows[0]!;
  const asked = lateKindsOf(run.options).map((kind) => lateKinds[kind]);
  /** Credits of the deliveries that were asked for such values. */
  const delivered = (values: 'phones' | 'emails'): bigint =>
    [...new Set(asked.filter((kind) => kind.values === values).map(({ deliveredBy }) => deliveredBy))]
      .map((kind) => storedCredits(settled[kind]))
      .reduce((sum, credits) => sum + credits, 0n);
  /** Without a settled credit, a price of 0 would look free while credits are held. */
  const isUnsettled = held.total !== '0';
  const forEmails = storedCredits(settled.records) + storedCredits(settled.decided) + delivered('emails');
  return [
    costOf('contact', contacts, storedCredits(settled.total), isUnsettled),
    costOf('verified_email', emails, forEmails, isUnsettled),
    ...(asked.some(({ values }) => values === 'phones')
      ? [costOf('phone', phones, delivered('phones'), isUnsettled)]
      : []),
  ];
}

function costOf(field: FieldCost['field'], count: number, credits: bigint, isUnsettled: boolean): FieldCost {
  const people = BigInt(count);
  const isUnknown = count === 0 || (credits === 0n && isUnsettled);
  // Adds half a millionth, so that the division rounds to the nearest millionth.
  const each = isUnknown ? null : formatCredits((2n * credits + people) / (2n * people));
  return { field, count, credits: formatCredits(credits), each };
}
