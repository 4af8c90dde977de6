import { sql } from 'kysely';
import { identityColumns } from '../../domain/identity/identity.ts';
import { parseExpectations, unmetExpectations } from '../../domain/runs/expectations.ts';
import type { ExportProfile, ReadExport } from '../../domain/runs/expectations.ts';
import { Problem } from '../../domain/problem.ts';
import {
  publicColumn,
  refusePersonalColumns,
  refuseUnknownColumns,
} from '../../ingest/columns/chosen-column.ts';
import { maySpend } from '../../db/run-states.ts';
import type { Warehouse } from '../../db/database.ts';
import type { RunRecord } from '../runs.ts';

/** Number of the latest runs that the export is compared with. */
const runsCompared = 10;

/**
 * Counts the rows of a staged export and keeps the counts with the run, for later runs.
 *
 * @returns the rows with an address, null without a column for it; and what of the export is not as the run expects, a
 *   sentence each
 */
export async function profileExport(
  warehouse: Warehouse,
  run: RunRecord,
): Promise<{ readonly withEmail: number | null; readonly unmet: string[] }> {
  const profile = await keepProfile(warehouse, run.runId);
  const hasEmails = Object.values(run.mapping ?? {}).includes('email');
  return {
    withEmail: hasEmails ? (profile.filled['email'] ?? 0) : null,
    unmet: await unmetBy(warehouse, run, profile),
  };
}

async function unmetBy(warehouse: Warehouse, run: RunRecord, profile: ExportProfile): Promise<string[]> {
  if (run.options.expectations === null) return [];
  const earlier = await readEarlierExports(warehouse, run);
  const present = { profile, mapping: run.mapping ?? {} };
  return unmetExpectations(parseExpectations(run.options.expectations), present, earlier, publicColumn);
}

/** Members of an object: each column of identifying cells, and its number of filled rows. */
const countsOfCells = sql.raw(
  identityColumns
    .filter((column) => column !== 'other_emails')
    .map((column) => `'${column}', nullif(count(${column}), 0)`)
    .join(', '),
);

async function keepProfile({ database }: Warehouse, runId: string): Promise<ExportProfile> {
  const { rows } = await sql<{ profile: ExportProfile }>`
    update runs set export_profile = (
      select jsonb_build_object(
        'rows', count(*),
        'malformed', count(*) filter (where outcome = 'malformed'),
        'filled', jsonb_strip_nulls(jsonb_build_object(${countsOfCells})))
      from run_rows where run_id = ${runId})
    where run_id = ${runId}
    returning export_profile as profile
  `.execute(database);
  return rows[0]!.profile;
}

/** Ended runs of the source, the newest first. Runs of a schedule are compared with runs of that schedule. */
async function readEarlierExports({ database }: Warehouse, run: RunRecord): Promise<ReadExport[]> {
  const { rows } = await sql<ReadExport>`
    select run_id as "runId", export_profile as profile, mapping
    from runs
    where status = 'finished' and undone_at is null and export_profile is not null and mapping is not null
      and ${maySpend}
      and source = ${run.source}
      and options ->> 'schedule' is not distinct from ${run.options.schedule}
      and run_id <> ${run.runId}
    order by created_at desc
    limit ${runsCompared}
  `.execute(database);
  return rows;
}

/**
 * @returns why the run cannot be planned: it chooses rows by a column that its export does not have, or by values that
 *   name people
 */
export function refusedChoice({ header, mapping, options }: RunRecord): Problem | undefined {
  try {
    const columns = { header: header ?? [], mapping: mapping ?? {} };
    refuseUnknownColumns(columns, options, false);
    refusePersonalColumns(options.only, columns);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error;
  }
}
