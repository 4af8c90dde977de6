import { sql, type Kysely } from 'kysely';

/**
 * Batches that are ready and wait for a place in the rate windows; `tables.ts` explains the columns.
 *
 * Unlogged, so that saying so costs no write to the disk: after a crash of the server every batch says it again. No reference to
 * `runs`: each batch would lock the row of its run.
 */
export async function up(database: Kysely<never>): Promise<void> {
  await sql`
    create unlogged table enrichment.waiting_batches (
      run_id text not null,
      batch integer not null,
      waits_until timestamptz not null,
      primary key (run_id, batch)
    )
  `.execute(database);
}
