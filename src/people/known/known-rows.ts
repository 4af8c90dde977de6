import { sql, type Kysely } from 'kysely';
import { identityOfColumns, type IdentityColumns } from '../../domain/identity/identity-columns.ts';
import { readyIdentity, type ComparedIdentity } from '../../domain/identity/identity-evidence.ts';
import type { ContactDecision, Verdicts } from '../../domain/identity/verdicts.ts';
import { identityCells } from '../../db/expressions.ts';
import { exportOrder, isExport, recordOrder } from '../../db/valid-entries.ts';
import type { Tables } from '../../db/schema.ts';
import { decisionsOf, verdictsOf } from '../decisions/contact-decisions.ts';
import type { ContactKey } from '../../keys/contact-key.ts';
import { eachOf, entriesByMatchKey } from '../../keys/shares-match-key.ts';

/** A contact that could be a person, as a row of an export has it. */
export interface KnownRow extends ContactKey {
  readonly matchKeys: readonly number[];
  readonly compared: ComparedIdentity;
  readonly verdicts: Verdicts;
}

type FoundRow = Omit<KnownRow, 'compared' | 'verdicts'> &
  IdentityColumns & { readonly decisions: readonly ContactDecision[] | null };

/**
 * Reads the contacts that have one of the match keys: rows of every export and source, whatever their outcome. Of
 * several rows of one contact in one file, the first counts. A row does not count if a newer export has its contact,
 * unless the contact still has a person whom no newer row gave it.
 *
 * @param service whose people decisions are about
 */
export async function readKnownRows(
  database: Kysely<Tables>,
  service: string,
  matchKeys: readonly number[],
): Promise<KnownRow[]> {
  if (matchKeys.length === 0) return [];
  const { rows } = await sql<FoundRow>`
    select known.source, known.contact_id as "contactId", known.match_keys as "matchKeys", ${identityCells('known')},
      ${decisionsOf(sql`${service}`, sql`known.source`, sql`known.contact_id`)} as decisions
    from (
      select distinct on (source, r.contact_id) runs.source, r.contact_id,
        r.run_id, runs.as_of, runs.created_at, r.match_keys, ${identityCells('r')}
      from ${entriesByMatchKey('r', eachOf(matchKeys))}
      cross join lateral (select * from runs where run_id = r.run_id offset 0) runs
      where ${sql.raw(isExport('runs'))}
      order by source, r.contact_id, ${sql.raw(exportOrder('runs'))} desc, ${sql.raw(recordOrder('r'))}
    ) known
    where not exists (
      select
      from (select run_id from run_rows where contact_id = known.contact_id and run_id <> known.run_id offset 0) n
      cross join lateral (select * from runs where run_id = n.run_id offset 0) newer
      where newer.source = known.source
        and ${sql.raw(exportOrder('newer'))} > ${sql.raw(exportOrder('known'))}
        and ${sql.raw(isExport('newer'))})
      or exists (
        select from contacts c
        cross join lateral (select * from runs where run_id = c.run_id offset 0) decided
        where c.source = known.source and c.contact_id = known.contact_id
          and ${sql.raw(exportOrder('decided'))} <= ${sql.raw(exportOrder('known'))})
    order by known.source, known.contact_id
  `.execute(database);
  return rows.map((row) => {
    const compared = readyIdentity(identityOfColumns(row));
    return { ...row, compared, verdicts: verdictsOf(row.decisions, compared) };
  });
}
