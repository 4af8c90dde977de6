import { sql, type Kysely, type Selectable } from 'kysely';
import type { RunRowsTable, Tables } from '../db/schema.ts';
import type { Alignment } from '../domain/identity/alignment.ts';
import { isWeak, readyIdentity, type EmailHashes } from '../domain/identity/identity-evidence.ts';
import { matchKeysOfPerson } from '../domain/identity/match-keys.ts';
import { identityOfColumns } from '../domain/identity/identity-columns.ts';
import { hasRival } from '../domain/identity/rivals.ts';
import type { OpenPerson } from './open-people.ts';

interface KnownRow extends Selectable<RunRowsTable> {
  readonly source: string;
}

/**
 * Finds the rows of a call to whom weak evidence gives a person whom another contact could be as well: another row of
 * the run, whether its batch comes first or last, or a contact of an earlier export, as its newest row has it. Of a
 * contact whose rows are no longer kept nothing is known.
 *
 * @param call.people who was asked for, in the order of `details`
 * @returns indexes into `call.people`
 */
export async function findContestedRows(
  database: Kysely<Tables>,
  call: { readonly source: string; readonly people: readonly OpenPerson[] },
  alignment: Alignment,
  hashesOf: EmailHashes,
): Promise<ReadonlySet<number>> {
  const weak = alignment.rows.flatMap((row, index) =>
    row.outcome === 'enriched' && isWeak(row.evidence) ? [{ index, person: row.person }] : [],
  );
  if (weak.length === 0) return new Set();
  const known = await readKnownRows(
    database,
    weak.flatMap(({ person }) => matchKeysOfPerson(person)),
  );
  const contested = weak.filter(({ index, person }) => {
    const asked = call.people[index]!;
    const others = known.filter((each) => each.source !== call.source || each.contact_id !== asked.contactId);
    return hasRival(
      person,
      readyIdentity(asked.identity),
      others.map((each) => readyIdentity(identityOfColumns(each))),
      hashesOf,
    );
  });
  return new Set(contested.map(({ index }) => index));
}

/** The newest row of each contact that has one of the keys; of several in one file, the first. */
async function readKnownRows(database: Kysely<Tables>, matchKeys: readonly number[]): Promise<KnownRow[]> {
  const { rows } = await sql<KnownRow>`
    select distinct on (source, contact_id) r.*, coalesce(runs.source, 'generic') as source
    from run_rows r
    join runs on runs.run_id = r.run_id
    where r.match_keys && ${matchKeys}::integer[]
      and runs.undone_at is null
    order by source, contact_id, runs.created_at desc, r.row_number
  `.execute(database);
  return rows;
}
