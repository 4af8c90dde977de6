import type { Kysely } from 'kysely';
import { peoplePerCall } from '../contract.ts';
import { identityOfColumns } from '../domain/identity/identity-columns.ts';
import type { Identity } from '../domain/identity/identity.ts';
import type { Tables } from '../db/schema.ts';

/** A row of the export without an outcome. */
export interface OpenPerson {
  readonly rowNumber: number;
  /** Record id in the CRM. */
  readonly contactId: string;
  readonly identity: Identity;
  /** Groups of fields that the call leaves out; the same for all people of a batch. */
  readonly leftOut?: readonly string[];
}

/** Reads the people of a batch without an outcome, in the order of the file. @param batch from 1 within the run */
export async function readOpenPeople(
  database: Kysely<Tables>,
  runId: string,
  batch: number,
): Promise<OpenPerson[]> {
  const rows = await database
    .selectFrom('run_people as p')
    .innerJoin('run_rows as r', (join) =>
      join.onRef('r.run_id', '=', 'p.run_id').onRef('r.row_number', '=', 'p.row_number'),
    )
    .selectAll('r')
    .select('p.left_out')
    .where('p.run_id', '=', runId)
    .where('p.position', '>=', (batch - 1) * peoplePerCall)
    .where('p.position', '<', batch * peoplePerCall)
    .where('r.outcome', 'is', null)
    .orderBy('p.position')
    .execute();
  return rows.map((row) => ({
    rowNumber: row.row_number,
    contactId: row.contact_id,
    identity: identityOfColumns(row),
    leftOut: row.left_out,
  }));
}

/** Reads attempts of a batch that an earlier execution left open. Their calls may have been sent. */
export async function readLeftAttempts(
  database: Kysely<Tables>,
  runId: string,
  batch: number,
): Promise<string[]> {
  const left = await database
    .selectFrom('attempts')
    .select('attempt_id')
    .where('run_id', '=', runId)
    .where('batch', '=', batch)
    .where('status', '=', 'admitted')
    .execute();
  return left.map((row) => row.attempt_id);
}
