import { sql, type Kysely } from 'kysely';

/** What the service says of its own rate windows; `tables.ts` explains the columns. */
export async function up(database: Kysely<never>): Promise<void> {
  await sql`
    create table enrichment.rate_reports (
      scope text not null,
      seconds integer not null check (seconds > 0),
      calls_limit integer not null check (calls_limit > 0),
      calls_left integer not null check (calls_left >= 0),
      said_at timestamptz not null,
      believed_until timestamptz not null,
      primary key (scope, seconds)
    )
  `.execute(database);
}
