import type { RunFacts } from '../../../contract/run-facts.ts';
import { counted } from '../../../domain/text/counted.ts';
import type { RunReport } from '../../../outputs/report-output.ts';
import { contestedRecords } from '../../../runs/needed-decisions.ts';

/** Says that rows of a run have a record id that names different people; no lines if no row has. */
export function describeContestedRows({ run_id: runId }: Pick<RunFacts, 'run_id'>, rows: number): string[] {
  if (rows === 0) return [];
  const { what, next } = contestedRecords(rows);
  const chosen = `run_id = '${runId}' and is_contested`;
  return [
    `  ${what}`,
    `  next: ${next}`,
    `  the rows: enrich sql -c "select row_number, contact_id, reason from run_rows where ${chosen}"`,
  ];
}

/**
 * Says which contacts of a run lost the person whom a row gave them: the outcomes of the rows do not change.
 *
 * @returns lines for a person; none if no contact lost its person
 */
export function describeLostContacts(
  { run_id: runId }: Pick<RunFacts, 'run_id'>,
  lost: RunReport['lost_contacts'],
): string[] {
  if (lost.length === 0) return [];
  const columns = 'row_number, contact_id, reason';
  const query = `select ${columns} from row_results where run_id = '${runId}' and lost_at is not null`;
  return [
    ...lost.map(
      ({ reason, rows: number }) =>
        `  ${counted(number, 'row')}: the contact has lost its person since: ${reason}`,
    ),
    '  next: give these contacts an address or a profile in the CRM, and run the export again;',
    `  the rows: enrich sql -c "${query}"`,
  ];
}
