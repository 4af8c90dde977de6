import { planKeyPrefix } from './run-states.ts';

/**
 * SQL condition: the rows of a run say what the CRM had, because the export was read to its end and is neither refused,
 * nor undone, nor only planned. @param alias alias of the run
 */
export function isExport(alias: string): string {
  return `(${alias}.ingested_at is not null and ${alias}.undone_at is null and ${alias}.status <> 'failed'
      and ${alias}.run_key not like '${planKeyPrefix}%')`;
}

/**
 * SQL: the place of a run's export among the exports of its source; the greatest is the newest. The scheduled time
 * decides, because a backfill reads the export of a missed time after newer exports. @param alias alias of the run
 */
export function exportOrder(alias: string): string {
  return `(${alias}.as_of, ${alias}.created_at, ${alias}.run_id)`;
}

/**
 * SQL: the order of the rows of one record in an export. The first row stands for the record, and its cells identify
 * the contact. @param alias alias of the row
 */
export function recordOrder(alias: string): string {
  return `${alias}.record_row is not null, ${alias}.outcome is not distinct from 'no_identifier', ${alias}.row_number`;
}
