import { sql, type Kysely } from 'kysely';

/**
 * What a service says of its own rate windows, for each service; `tables.ts` explains the columns.
 *
 * A table of its own: workers of the release before go on to write `rate_reports`, whose key they rely on. It is left to them.
 */
export async function up(database: Kysely<never>): Promise<void> {
  await sql`
    create table enrichment.service_windows (
      service text not null,
      scope text not null,
      seconds integer not null check (seconds > 0),
      calls_limit integer not null check (calls_limit > 0),
      calls_left integer not null check (calls_left >= 0),
      said_at timestamptz not null,
      believed_until timestamptz not null,
      primary key (service, scope, seconds)
    )
  `.execute(database);
}
