import { escapeLiteral } from 'pg';
import { parseCursor } from '../people/read-changes.ts';

/** Which contacts are exported; what is not said leaves nobody out. */
export interface ContactChoice {
  readonly source?: string | undefined;
  /** Contacts that this run asked for or filled. */
  readonly runId?: string | undefined;
  /** Contacts that changed after this cursor of the feed. */
  readonly since?: string | undefined;
}

/**
 * Over `c`, a contact: its entries on the suppression list, by its columns and by what its row of the export says of it, where
 * that is still kept.
 */
const isListedContact = `
  select 1 from unnest((select r.keys from run_rows r where r.run_id = c.run_id and r.row_number = c.row_number)
      || array['email:' || c.email, 'person:' || c.person_id, 'profile:' || c.profile_url]) as identity_key,
    suppression_hashes(identity_key) as form (key_hash) join suppressed_keys s using (key_hash)
  union all
  select 1 from suppression_entries e, unnest(array[split_part(c.email, '@', 2), c.organization_domain]) as theirs (domain)
  where e.kind = 'domain' and (theirs.domain = e.domain or theirs.domain like '%.' || e.domain)`;

/**
 * The condition, over `enriched_contacts c`, that a contact is chosen and not on the suppression list. As text, because COPY takes
 * no parameters: values are quoted by the driver.
 */
export function isChosen({ source, runId, since }: ContactChoice): string {
  const conditions = [
    ...(source === undefined ? [] : [`c.source = ${escapeLiteral(source)}`]),
    ...(runId === undefined ? [] : [`c.run_id = ${escapeLiteral(runId)}`]),
    ...(since === undefined ? [] : [changedSince(since)]),
    `not exists (select 1 from suppression_entries) or not exists (${isListedContact})`,
  ];
  return conditions.map((condition) => `(${condition})`).join(' and ');
}

function changedSince(cursor: string): string {
  const { transaction, change } = parseCursor(cursor);
  return `(c.source, c.contact_id) in (
    select h.source, h.contact_id
    from changes h
    where (h.transaction_id, h.change_id) > ('${transaction}'::xid8, ${change})
      and h.transaction_id < pg_snapshot_xmin(pg_current_snapshot()))`;
}
