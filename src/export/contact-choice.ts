import { escapeLiteral } from 'pg';
import type { Warehouse } from '../db/database.ts';
import { sharedKeyPattern } from '../keys/key-lookups.ts';
import { parseCursor } from '../people/change-feed.ts';

/** Next step in errors about a cursor that the change feed no longer has. */
export const cursorAdvice =
  'give the cursor that enrich export --json printed the last time; without --since all contacts are written';

export interface ContactChoice {
  readonly source?: string | undefined;
  /** Only contacts that this run, and no later one, linked to their person. */
  readonly runId?: string | undefined;
  /** Only contacts that have changed after this cursor. */
  readonly since?: string | undefined;
}

/**
 * SQL that finds the suppressions of the contact `c`: by its own columns, by all keys in the log of its person, by
 * staged rows of all contacts of the person, and by keys that any service's answers stated with one of these.
 */
const suppressedContact = `
  with stated as (
    select unnest(array['email:' || c.email, 'person:' || c.person_id, 'profile:' || c.profile_url]
      || array(
        select unnest(o.identity_keys)
        from contacts own
        cross join lateral (
          select identity_keys from observation_log where service = own.service and person_key = own.person_key offset 0
        ) o
        where own.source = c.source and own.contact_id = c.contact_id)
      || array(
        select unnest(r.keys)
        from contacts same
        join run_rows r on r.run_id = same.run_id and r.row_number = same.row_number
        where same.service = c.service and same.person_key = c.person_key)) as identity_key
  )
  select 1
  from (
    select identity_key from stated
    union
    select unnest(o.identity_keys)
    from (select distinct identity_key from stated where identity_key !~ '${sharedKeyPattern}') k
    cross join lateral (
      select identity_keys from observation_log where identity_keys @> array[k.identity_key] offset 0
    ) o
  ) known
  cross join lateral suppression_hashes(identity_key) as form (key_hash)
  cross join lateral (select from suppressed_keys where key_hash = form.key_hash offset 0) s
  union all
  select 1
  from suppression_entries e,
    unnest(array[split_part(c.email, '@', 2), c.organization_domain]) as of_contact (domain)
  where e.kind = 'domain'
    and (of_contact.domain = e.domain or of_contact.domain like '%.' || e.domain)`;

/** SQL condition that the contact `c` is selected and not suppressed. COPY takes no parameters, only literals. */
export function selectedContactCondition(choice: ContactChoice): string {
  return allOf(
    ...chosen(choice),
    `not exists (select 1 from suppression_entries) or not exists (${suppressedContact})`,
  );
}

/** Counts the selected contacts that exports leave out. */
export async function countSuppressed({ pool }: Warehouse, choice: ContactChoice): Promise<number> {
  const isLeftOut = allOf(
    ...chosen(choice),
    'exists (select 1 from suppression_entries)',
    `exists (${suppressedContact})`,
  );
  const { rows } = await pool.query<{ contacts: number }>(
    `select count(*)::integer as contacts from enriched_contacts c where ${isLeftOut}`,
  );
  return rows[0]!.contacts;
}

/** Returns the SQL conditions of a choice, without suppressions. */
function chosen({ source, runId, since }: ContactChoice): string[] {
  return [
    ...(source === undefined ? [] : [`c.source = ${escapeLiteral(source)}`]),
    ...(runId === undefined ? [] : [`c.run_id = ${escapeLiteral(runId)}`]),
    ...(since === undefined ? [] : [changedSince(since)]),
  ];
}

function allOf(...conditions: readonly string[]): string {
  return conditions.map((condition) => `(${condition})`).join(' and ');
}

function changedSince(cursor: string): string {
  return `(c.source, c.contact_id) in (
    select h.source, h.contact_id from changes h where h.change_id > ${parseCursor(cursor)})`;
}
