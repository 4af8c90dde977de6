import { sql, type Transaction } from 'kysely';
import { fieldOfColumn, identityColumns, type Identity } from '../../../src/domain/identity/identity.ts';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import { matchKeysOfIdentity } from '../../../src/domain/identity/match-keys.ts';
import type { Tables } from '../../../src/db/schema.ts';
import type { Warehouse } from '../../../src/db/database.ts';
import { digestQueued, inDigest, queuePeople } from '../../../src/people/digest.ts';
import { writeObservations, type NewObservation } from '../../../src/people/people-tables.ts';

/** A match as a test writes it, with the record of its contact. */
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
  /** Who the record says that the contact is; otherwise it has the person's id. */
  readonly identity?: Identity;
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
      if (match.personKey !== null) {
        await writeRun(transaction, match, service);
        await writeRecord(transaction, match, match.personKey);
        await sql`
          insert into contact_matches (source, contact_id, service, person_key, evidence, asked, run_id, row_number,
            attempt_id, valid_from)
          values (${match.source}, ${match.contactId}, ${service}, ${match.personKey}, ${match.evidence ?? 'email'}, true,
            ${match.runId}, ${match.rowNumber ?? 1}, ${match.attemptId ?? null},
            coalesce(${at}::timestamptz, clock_timestamp()))
        `.execute(transaction);
      }
    }
    const keys = [...observations, ...matches].flatMap(({ personKey }) => personKey ?? []);
    await queuePeople(
      transaction,
      keys.map((personKey) => ({ service, personKey })),
    );
    await digestQueued(transaction, database);
  });
}

/** Writes the run of a record, unless the test has begun it. */
async function writeRun(
  transaction: Transaction<Tables>,
  { source, runId }: WrittenMatch,
  service: string,
): Promise<void> {
  await sql`
    insert into runs (run_id, run_key, workflow_id, source, status, file_path, file_name, file_sha256, options)
    values (${runId}, ${runId}, ${runId}, ${source}, 'finished', 'x', 'x', 'x', ${JSON.stringify({ service })})
    on conflict do nothing
  `.execute(transaction);
}

/** Writes the record of a contact, as an export of the run would. */
async function writeRecord(
  transaction: Transaction<Tables>,
  { source, contactId, runId, rowNumber = 1, identity }: WrittenMatch,
  personKey: string,
): Promise<void> {
  const cells = identity ?? { personId: personKey.replace(/^person:/, '') };
  const matchKeys = matchKeysOfIdentity(cells);
  await sql`
    insert into contact_records (source, contact_id, run_id, row_number, keys, match_keys, ${identityCells})
    values (${source}, ${contactId}, ${runId}, ${rowNumber}, ${identityKeys(cells)}, ${matchKeys}, ${sql.join(
      identityColumns.map((column) => cells[fieldOfColumn[column]] ?? null),
    )})
    on conflict do nothing
  `.execute(transaction);
  await sql`
    insert into contact_keys (key, source, contact_id)
    select unnest(${matchKeys}::integer[]), ${source}, ${contactId}
    on conflict do nothing
  `.execute(transaction);
}

const identityCells = sql.raw(identityColumns.join(', '));
