import { sql, type Transaction } from 'kysely';
import { fieldOfColumn, identityColumns, type Identity } from '../../../src/domain/identity/identity.ts';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import { matchKeysOfIdentity } from '../../../src/domain/identity/match-keys.ts';
import type { Tables } from '../../../src/db/schema.ts';
import type { Warehouse } from '../../../src/db/database.ts';
import { digestQueued, inDigest } from '../../../src/people/digest.ts';
import { queueContacts, queuePeople } from '../../../src/people/digest-queue.ts';
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
      await writeRun(transaction, match, service);
      await writeRecord(transaction, match);
    }
    await queueContacts(transaction, matches);
    const keys = [...observations, ...matches].flatMap(({ personKey }) => personKey ?? []);
    await queuePeople(
      transaction,
      keys.map((personKey) => ({ service, personKey })),
    );
    await digestQueued(transaction, database);
    for (const match of matches) await writeMatch(transaction, match, service);
  });
}

/** Gives the match that the digest has decided the time and the call of the test. */
async function writeMatch(
  transaction: Transaction<Tables>,
  match: WrittenMatch,
  service: string,
): Promise<void> {
  const { source, contactId, personKey, runId, rowNumber = 1 } = match;
  const at = sql`coalesce(${match.at ?? null}::timestamptz, clock_timestamp())`;
  await sql`
    update contact_matches set valid_to = ${at}, ended_reason = 'test'
    where source = ${source} and contact_id = ${contactId} and person_key is distinct from ${personKey}
      and ended_reason is distinct from 'test'
  `.execute(transaction);
  if (personKey === null) return;
  await sql`
    insert into contact_matches (source, contact_id, service, person_key, evidence, asked, run_id, row_number,
      attempt_id, valid_from)
    values (${source}, ${contactId}, ${service}, ${personKey}, ${match.evidence ?? 'email'}, true, ${runId},
      ${rowNumber}, ${match.attemptId ?? null}, ${at})
    on conflict (source, contact_id) where valid_to is null do update
    set evidence = excluded.evidence, asked = true, run_id = excluded.run_id, row_number = excluded.row_number,
      attempt_id = excluded.attempt_id, valid_from = least(contact_matches.valid_from, excluded.valid_from)
  `.execute(transaction);
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

/** Writes the record of a contact, as an export of the run would; without a person it has no cells. */
async function writeRecord(
  transaction: Transaction<Tables>,
  { source, contactId, runId, rowNumber = 1, identity, personKey }: WrittenMatch,
): Promise<void> {
  const cells = identity ?? (personKey === null ? {} : { personId: personKey.replace(/^person:/, '') });
  const matchKeys = matchKeysOfIdentity(cells);
  await sql`
    insert into contact_records (source, contact_id, run_id, row_number, keys, match_keys, ${identityCells})
    values (${source}, ${contactId}, ${runId}, ${rowNumber}, ${identityKeys(cells)}, ${matchKeys}, ${sql.join(
      identityColumns.map((column) => cells[fieldOfColumn[column]] ?? null),
    )})
    on conflict (source, contact_id, run_id) do update
    set keys = excluded.keys, match_keys = excluded.match_keys, person_id = excluded.person_id
  `.execute(transaction);
  await sql`
    insert into contact_keys (key, source, contact_id)
    select unnest(${matchKeys}::integer[]), ${source}, ${contactId}
    on conflict do nothing
  `.execute(transaction);
}

const identityCells = sql.raw(identityColumns.join(', '));
