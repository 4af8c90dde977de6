import { sql, type Transaction } from 'kysely';
import { identityOfColumns, type IdentityColumns } from '../../domain/identity/identity-columns.ts';
import { readyIdentity } from '../../domain/identity/identity-evidence.ts';
import { contestedReason, hasRival } from '../../domain/identity/rivals.ts';
import type { Person } from '../../domain/identity/person.ts';
import { appendToLog } from '../../people/append-to-log.ts';
import { emailHashes } from '../../people/email-hashes.ts';
import type { Tables } from '../../db/schema.ts';
import { personOfProjection, type RowsOfRun } from './contacts-to-reconcile.ts';

/** A contact that has its person by weak evidence, and a row of another contact that may be the same person. */
interface Contested {
  readonly source: string;
  readonly contact_id: string;
  readonly person: Person;
  /** The newest cells of the contact. */
  readonly own: IdentityColumns;
  readonly other: IdentityColumns;
}

/**
 * Withdraws matches by weak evidence, of contacts of any source, if a row of this run could be the person as well. The
 * identity rule would have refused such a match if the row had been known.
 *
 * @returns how many contacts lost their person
 */
export async function withdrawContested(transaction: Transaction<Tables>, range: RowsOfRun): Promise<number> {
  const contested = (await readContested(transaction, range)).filter(({ person, own, other }) => {
    const [row, rival] = [own, other].map((cells) => readyIdentity(identityOfColumns(cells)));
    return hasRival(person, row!, [rival!], emailHashes);
  });
  const contacts = new Map(contested.map((each) => [`${each.source} ${each.contact_id}`, each]));
  await appendToLog(transaction, range.service, {
    observations: [],
    matches: [...contacts.values()].map(({ source, contact_id }) => ({
      source,
      contact_id,
      person_key: null,
      evidence: contestedReason,
      asked: false,
      run_id: range.runId,
      attempt_id: null,
      row_number: 0,
      match_keys: null,
      decided_at: 'now',
    })),
  });
  return contacts.size;
}

async function readContested(
  transaction: Transaction<Tables>,
  { runId, source, service, rows: which }: RowsOfRun,
): Promise<Contested[]> {
  const { rows } = await sql<Contested>`
    select c.source, c.contact_id, to_jsonb(k) as own, to_jsonb(r) as other, ${personOfProjection} as person
    from run_rows r
    join contact_matches m on m.match_keys && r.match_keys and m.service = ${service}
    join contacts c on c.match_id = m.match_id
    join people p on p.service = c.service and p.person_key = c.person_key
    cross join lateral (
      select k.* from contact_records k
      where k.source = c.source and k.contact_id = c.contact_id and not exists (
        select from runs u where u.run_id = k.run_id and u.undone_at is not null)
      order by k.recorded_at desc
      limit 1
    ) k
    where r.run_id = ${runId}
      and ${which}
      and r.outcome is distinct from 'suppressed'
      and (c.source, c.contact_id) <> (${source}, r.contact_id)
    order by c.source, c.contact_id
  `.execute(transaction);
  return rows;
}
