import { sql, type Kysely } from 'kysely';

/** Which content an address had in which version: what is known already is not fetched again to find that it is not new. */
export async function up(database: Kysely<never>): Promise<void> {
  await sql`
    create table enrichment.fetched_exports (
      address text primary key,
      etag text not null,
      sha256 text not null,
      fetched_at timestamptz not null default clock_timestamp()
    )`.execute(database);
}
