import { sql, type Kysely } from 'kysely';
import { identityOfColumns, type IdentityColumns, type Identity } from '../../domain/identity/identity.ts';
import { identityCells } from '../../db/expressions.ts';
import { findWrittenProfileUrl } from '../../domain/identity/values/profile-url.ts';
import type { Tables } from '../../db/schema.ts';
import { registrationSql, type BatchesOfRun } from '../../ledger/admit.ts';
import { dropSuppressed } from '../../suppression/drop-suppressed.ts';
import { selectContact } from '../../keys/contact-key.ts';
import { emailKeysOfHash } from '../../keys/key-lookups.ts';
import { dropFreshRows, peopleOfBatches, peopleOfBatchesWithRows } from '../../runs/pages.ts';
import type { LookupRequest } from '../../runs/planning/drop-rows.ts';

/** A row of the export without an outcome. */
export interface OpenPerson {
  readonly rowNumber: number;
  /** Record id in the CRM. */
  readonly contactId: string;
  readonly identity: Identity;
  /** The profile URL exactly as the row contains it. */
  readonly writtenProfileUrl?: string;
  /** Id of the person that the operator confirmed with `enrich review`. The call sends only this id. */
  readonly confirmedId?: string;
}

interface PersonOfBatch extends OpenPerson {
  readonly batch: number;
  /** Groups of fields that the call leaves out. They are the same for all people of a batch. */
  readonly leftOut: readonly string[];
}

type OpenRow = Omit<PersonOfBatch, 'identity' | 'writtenProfileUrl' | 'confirmedId'> &
  IdentityColumns & {
    readonly confirmedId: string | null;
    /** The cells of a row with a profile URL, as JSON. */
    readonly cells: string | null;
  };

/** SQL expression: the id of the person that the operator confirmed for the contact of a row `r`. */
const confirmedId = sql`(
  select people.person_id
  from runs
  cross join lateral (${selectContact(sql`runs.source`, sql`r.contact_id`)}) c
  cross join lateral (
    select person_id from people where service = c.service and person_key = c.person_key offset 0
  ) people
  where runs.run_id = r.run_id and c.evidence = 'confirmed' and c.service = runs.options ->> 'service')`;

const openRow = sql`
  b.batch, r.row_number as "rowNumber", r.contact_id as "contactId", p.left_out as "leftOut", ${identityCells('r')},
  ${confirmedId} as "confirmedId", case when r.profile_url is not null then r.raw end as cells`;

/** SQL query of the row numbers of batches. */
export const rowsOfBatches = (batches: BatchesOfRun) =>
  sql`select row_number from ${peopleOfBatches(batches)}`;

/**
 * Reads the people of a batch who have no outcome yet, in the order of the file.
 *
 * @param batch number of the batch, starting at 1 in each run
 */
export async function readOpenPeople(
  database: Kysely<Tables>,
  runId: string,
  batch: number,
): Promise<OpenPerson[]> {
  const { rows } = await sql<OpenRow>`
    select ${openRow}
    from ${peopleOfBatchesWithRows({ runId, batches: [batch] })}
    where r.outcome is null
    order by p.position
  `.execute(database);
  return rows.map(openPerson);
}

/**
 * Gives an outcome to people of batches who became fresh or suppressed after their page was opened, and reads the
 * others like `readOpenPeople`. A person becomes fresh if an answer shows that two rows of the page are the same
 * person.
 *
 * @param hasSuppressions false: the suppression list is known to be empty
 */
export async function refreshOpenPeople(
  database: Kysely<Tables>,
  batches: BatchesOfRun,
  asked: LookupRequest,
  hasSuppressions = true,
): Promise<PersonOfBatch[]> {
  const { runId } = batches;
  if (hasSuppressions) await dropSuppressed(database, runId, rowsOfBatches(batches));
  const keys = sql`(
    select known.identity_key, r.row_number, p.left_out
    from ${peopleOfBatchesWithRows(batches)}
    cross join unnest(r.keys) as own (identity_key)
    cross join lateral (
      select own.identity_key union all (${emailKeysOfHash(asked.service, sql`own.identity_key`)})
    ) known
    where r.outcome is null)`;
  const { rows } = await sql<OpenRow>`
    with ${dropFreshRows(runId, keys, asked)}
    select ${openRow}
    from ${peopleOfBatchesWithRows(batches)}
    where r.outcome is null and r.row_number not in (select row_number from dropped)
    order by p.position
  `.execute(database);
  return rows.map(openPerson);
}

/** Converts a row from SQL. The profile URL is sent as written, because the service may compare exactly. */
function openPerson({
  batch,
  rowNumber,
  contactId,
  leftOut,
  confirmedId: id,
  cells,
  ...row
}: OpenRow): PersonOfBatch {
  const identity = identityOfColumns(row);
  const written =
    cells !== null &&
    identity.profileUrl !== undefined &&
    findWrittenProfileUrl(JSON.parse(cells) as string[], identity.profileUrl);
  return {
    batch,
    rowNumber,
    contactId,
    leftOut,
    identity,
    ...(written && { writtenProfileUrl: written }),
    ...(id !== null && { confirmedId: id }),
  };
}

interface LeftByEarlier {
  readonly hasSuppressions: boolean;
  readonly leftAttempts: readonly string[];
  readonly leftAnswers: boolean;
}

/**
 * Registers batches as waiting, so that calls of lower priority leave slots free for them.
 *
 * @returns `hasSuppressions`: the suppression list has entries; `leftAttempts`: open attempts of an earlier execution,
 *   which may have been sent; `leftAnswers`: stored answers are not digested yet
 */
export async function registerBatches(
  database: Kysely<Tables>,
  batches: BatchesOfRun,
): Promise<LeftByEarlier> {
  const { rows } = await sql<LeftByEarlier>`
    with registered as (${registrationSql(batches)}), earlier as (
      select attempt_id, status from attempts
      where run_id = ${batches.runId} and batch = any(${batches.batches}::integer[])
    )
    select exists (select from suppression_entries) as "hasSuppressions",
      array(select attempt_id from earlier where status = 'admitted') as "leftAttempts",
      exists (
        select from earlier join digest_queue q on q.kind = 'answer' and q.owner = attempt_id and q.problem is null
      ) as "leftAnswers"
  `.execute(database);
  return rows[0]!;
}
