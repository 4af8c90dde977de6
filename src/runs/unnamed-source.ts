import { sql } from 'kysely';
import { nameCells } from '../db/expressions.ts';
import type { Warehouse } from '../db/database.ts';
import { compareNameCells, type NameCells } from '../domain/identity/names/name-agreement.ts';
import { UsageProblem, type Problem } from '../domain/problem.ts';
import { counted } from '../domain/text/counted.ts';
import type { RunRecord } from './runs.ts';

/** A sample of this many contacts is enough to recognise a file. */
const contactsCompared = 10_000;

interface KnownContact {
  readonly contact_id: string;
  readonly shares_key: boolean;
  readonly now: NameCells;
  readonly before: NameCells;
}

/**
 * Refuses a run without a named source whose contact ids belong to other people in the warehouse. Such a file comes
 * from another system with the same small ids, and would overwrite contacts that were paid for. With a named source, a
 * record that became another person is replaced.
 *
 * @returns undefined if the run may be planned
 */
export async function refuseUnnamedSource(
  warehouse: Warehouse,
  run: RunRecord,
): Promise<Problem | undefined> {
  const { source } = run;
  // The ids of a recognised CRM are reliable: a record that became another person is replaced.
  if (isNamed(run) || source !== 'generic') return undefined;
  const contacts = await readKnownContacts(warehouse, run.runId, source);
  const others = contacts.filter((contact) => !contact.shares_key && !mayBeOnePerson(contact));
  if (others.length === 0) return undefined;
  const ids = others.slice(0, 3).map((contact) => contact.contact_id);
  return new UsageProblem(
    'source.unnamed',
    `${counted(others.length, 'contact id')} of this file ` +
      `${others.length === 1 ? 'belongs to another person' : 'belong to other people'} of source "${source}" ` +
      `(such as ${ids.join(', ')}): nothing was paid`,
    {
      where: '--source',
      next:
        `name the system that the file comes from: --source NAME; if it is the same one, --source ${source} ` +
        'replaces them',
    },
  );
}

function isNamed({ options }: RunRecord): boolean {
  return options.source !== null || options.mapping?.['source'] !== undefined;
}

async function readKnownContacts(
  { database }: Warehouse,
  runId: string,
  source: string,
): Promise<readonly KnownContact[]> {
  const found = await sql<KnownContact>`
    select r.contact_id, r.keys && f.keys as shares_key,
      ${nameCells('r')} as now,
      ${nameCells('f')} as before
    from run_rows r
    join enriched_contacts c on c.source = ${source} and c.contact_id = r.contact_id
    join run_rows f on f.run_id = c.run_id and f.row_number = c.row_number
    join runs former on former.run_id = c.run_id
    where r.run_id = ${runId}
      and r.outcome is null
      and r.contact_id not like 'key:%'
      and cardinality(f.keys) > 0
      and former.undone_at is null
      and former.file_sha256 <> (select file_sha256 from runs where run_id = ${runId})
    order by r.row_number
    limit ${contactsCompared}
  `.execute(database);
  return found.rows;
}

/** A contact keeps its name if its address changes, and its first name if its last name changes. */
function mayBeOnePerson({ now, before }: KnownContact): boolean {
  const verdict = compareNameCells(now, before);
  return verdict === 'agree' || verdict === 'partly';
}
