import { sql, type Transaction } from 'kysely';
import { identityOfColumns, type IdentityColumns } from '../../domain/identity/identity-columns.ts';
import type { ContactDecision } from '../../domain/identity/verdicts.ts';
import { identityCells } from '../../db/expressions.ts';
import type { Tables } from '../../db/schema.ts';
import { confirmedKeys, decisionsOf, verdictsOf } from '../../people/decisions/contact-decisions.ts';

type DecidedRow = IdentityColumns & {
  readonly row_number: number;
  readonly decisions: readonly ContactDecision[] | null;
};

/**
 * Adds to `plan_keys` the person of each row whose contact has a decision (`enrich review`): the row is fresh if the
 * person is, and rows with one person are duplicates.
 */
export async function addConfirmedPeople(
  transaction: Transaction<Tables>,
  { runId, service }: { readonly runId: string; readonly service: string },
): Promise<void> {
  const { rows } = await sql<DecidedRow>`
    select r.row_number, ${identityCells('r')},
      ${decisionsOf(sql`${service}`, sql`d.source`, sql`d.contact_id`)} as decisions
    from (
      select distinct source, contact_id from contact_decisions
      where service = ${service}
        and verdict = 'confirmed'
        and source = (select source from runs where run_id = ${runId})
    ) d
    join plan_rows p on p.contact_id = d.contact_id
    join run_rows r on r.run_id = ${runId} and r.row_number = p.row_number
  `.execute(transaction);
  const added = rows.flatMap(({ row_number: rowNumber, decisions, ...cells }) =>
    confirmedKeys(verdictsOf(decisions, { identity: identityOfColumns(cells) })).map((key) => ({
      rowNumber,
      key,
    })),
  );
  if (added.length === 0) return;
  await sql`
    insert into plan_keys (identity_key, row_number)
    select * from unnest(${added.map(({ key }) => key)}::text[], ${added.map(({ rowNumber }) => rowNumber)}::int[])
    except
    select identity_key, row_number from plan_keys
  `.execute(transaction);
}
