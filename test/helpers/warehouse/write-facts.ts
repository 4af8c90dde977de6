import { sql } from 'kysely';
import type { Warehouse } from '../../../src/db/database.ts';
import { digestQueued, inDigest, queuePeople } from '../../../src/people/digest.ts';
import { writeObservations, type NewObservation } from '../../../src/people/people-tables.ts';

/** A match as a test writes it, without a record that shows it. */
export interface WrittenMatch {
  readonly source: string;
  readonly contactId: string;
  /** Null: the contact loses its person. */
  readonly personKey: string | null;
  readonly evidence?: string;
  readonly runId: string;
  readonly rowNumber?: number;
  readonly attemptId?: string;
  readonly at?: string;
}

/** Writes observations and matches of one service as the digest does. */
export async function writeFacts(
  { database }: Pick<Warehouse, 'database'>,
  service: string,
  observations: readonly NewObservation[],
  matches: readonly WrittenMatch[] = [],
): Promise<void> {
  await inDigest(database, async (transaction) => {
    await writeObservations(transaction, service, observations);
    for (const match of matches) {
      const at = match.at ?? null;
      await sql`
        update contact_matches set valid_to = coalesce(${at}::timestamptz, clock_timestamp()), ended_reason = 'test'
        where source = ${match.source} and contact_id = ${match.contactId} and valid_to is null
      `.execute(transaction);
      if (match.personKey !== null)
        await sql`
          insert into contact_matches (source, contact_id, service, person_key, evidence, asked, run_id, row_number,
            attempt_id, valid_from)
          values (${match.source}, ${match.contactId}, ${service}, ${match.personKey}, ${match.evidence ?? 'email'}, true,
            ${match.runId}, ${match.rowNumber ?? 1}, ${match.attemptId ?? null},
            coalesce(${at}::timestamptz, clock_timestamp()))
        `.execute(transaction);
    }
    const keys = [...observations, ...matches].flatMap(({ personKey }) => personKey ?? []);
    await queuePeople(
      transaction,
      keys.map((personKey) => ({ service, personKey })),
    );
    await digestQueued(transaction, database);
  });
}
