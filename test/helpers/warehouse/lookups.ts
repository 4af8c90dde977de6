import type { ClientBase, Pool } from 'pg';

/** Inserts a lookup of an identity into the history. */
export async function insertLookup(
  database: Pool | ClientBase,
  lookup: {
    readonly key: string;
    readonly fieldGroup?: string;
    /** Null: the service returned a person whom the row did not accept. */
    readonly found?: boolean | null;
    readonly secondsAgo?: number;
    readonly runId?: string;
    readonly service?: string;
  },
): Promise<void> {
  const { key, fieldGroup = 'profile', found = true, secondsAgo = 0, service = 'test' } = lookup;
  await database.query(
    `insert into lookup_history (key_hash, field_group, found, asked_at, lookup_run)
     values (key_hash($1, $6), $2, $3, now() - make_interval(secs => $4), number_lookup_run($5, $6))`,
    [key, fieldGroup, found, secondsAgo, lookup.runId ?? `run-before-at-${service}`, service],
  );
}
