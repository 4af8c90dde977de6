import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Warehouse } from '../db/database.ts';
import { getRun, type RunRecord } from './runs.ts';
import { isUnfinished, planKeyPrefix, maySpend } from '../db/run-states.ts';
import { newRunId } from '../domain/runs/run-id.ts';
import { withoutPersonalData } from '../domain/text/without-personal-data.ts';
import { optionNamesDeciding, pickOptions, type RunOptions } from '../domain/runs/run-options.ts';
import { nameCells } from '../db/expressions.ts';
import { compareNameCells, type NameCells } from '../domain/identity/names/name-agreement.ts';
import { UsageProblem, type Problem } from '../domain/problem.ts';
import { formatCount } from '../domain/text/format.ts';

/** The export and the options of a run to begin. */
export interface RunSpec {
  readonly filePath: string;
  readonly fileName: string;
  readonly fileSha256: string;
  readonly options: RunOptions;
  /** The source of the contacts; undefined if the export is not read yet. It is a part of the run's id. */
  readonly source?: string;
  /** Hash of the only plan that may run; null: any plan. An unfinished run without a plan adopts it. */
  readonly expectedPlanHash: string | null;
  /** The scheduled time of the run; by default now. */
  readonly asOf?: Date;
  /** True if the run only plans. Ignored if the run may spend credits. */
  readonly planOnly?: boolean;
}

/**
 * Finds the unfinished run of this file with these options, or begins one. Two commands at the same time get the same
 * run, because the key is unique among unfinished runs.
 */
export async function findOrBeginRun(
  warehouse: Warehouse,
  spec: RunSpec,
): Promise<{ run: RunRecord; found: boolean }> {
  const runKey = spec.planOnly ? `${planKeyPrefix}${randomBytes(16).toString('hex')}` : keyOf(spec);
  const runId = newRunId({
    schedule: spec.options.schedule,
    source: spec.source ?? spec.options.source,
    file: withoutPersonalData(spec.fileName),
    now: new Date(),
    random: randomBytes(3).toString('hex'),
  });
  const inserted = await sql<{ run_id: string }>`
    insert into runs (run_id, run_key, workflow_id, status, file_path, file_name, file_sha256, options,
      expected_plan_hash, as_of)
    values (${runId}, ${runKey}, ${runId}, 'ingesting', ${spec.filePath}, ${spec.fileName}, ${spec.fileSha256},
      ${JSON.stringify(spec.options)}::jsonb, ${spec.expectedPlanHash},
        coalesce(${spec.asOf ?? null}::timestamptz, now()))
    on conflict (run_key) where ${isUnfinished} do nothing
    returning run_id
  `.execute(warehouse.database);
  if (inserted.rows.length > 0) return { run: await getRun(warehouse, runId), found: false };
  const existing = await sql<{ run_id: string }>`
    update runs set file_path = ${spec.filePath},
      expected_plan_hash = case when plan_hash is null then coalesce(${spec.expectedPlanHash}, expected_plan_hash)
        else expected_plan_hash end,
      options = options || ${JSON.stringify(pickOptions(spec.options, optionNamesDeciding('gate')))}::jsonb
    where run_key = ${runKey} and ${isUnfinished} returning run_id
  `.execute(warehouse.database);
  const found = existing.rows[0];
  // The existing run has ended since the first statement, so a new run begins.
  return found
    ? { run: await getRun(warehouse, found.run_id), found: true }
    : findOrBeginRun(warehouse, spec);
}

/** Returns the run that `findOrBeginRun` would find, without beginning one. */
export async function findUnfinishedRun(warehouse: Warehouse, spec: RunSpec): Promise<RunRecord | undefined> {
  const found = await sql<{ run_id: string }>`
    select run_id from runs where run_key = ${keyOf(spec)} and ${isUnfinished}
  `.execute(warehouse.database);
  return found.rows[0] && getRun(warehouse, found.rows[0].run_id);
}

/**
 * The key of a run: a hash of the file's content and of every option that affects calls or cost. Keep the order of
 * these options in new releases: another order begins a second run beside each unfinished run.
 */
function keyOf(spec: RunSpec): string {
  const asked = pickOptions(spec.options, optionNamesDeciding('people', 'manner'));
  return createHash('sha256')
    .update(JSON.stringify([spec.fileSha256, asked]))
    .digest('hex');
}

/** The content of an export, or its URL together with a time since which the content has not changed. */
type KnownContent =
  | { readonly fileSha256: string }
  | { readonly filePath: string; readonly modifiedMilliseconds: number };

/**
 * True if an ended run with the same options has enriched this content. A finished run does not count if it left people
 * over budget, or in flight without a claim, because the next run must call for them.
 */
export async function wasRunBefore(
  warehouse: Warehouse,
  content: KnownContent,
  options: RunOptions,
): Promise<boolean> {
  // The scheduled time is earlier than the time at which the run read the export, so it is a safe lower limit.
  const hasContent =
    'fileSha256' in content
      ? sql`file_sha256 = ${content.fileSha256}`
      : sql`file_path = ${content.filePath} and as_of >= ${new Date(content.modifiedMilliseconds)}`;
  const others = optionNamesDeciding('manner', 'waiting', 'gate', 'start');
  const { rows } = await sql`
    select 1 from runs r
    where ${hasContent} and status in ('finished', 'cancelled', 'failed')
      and ${maySpend}
      and options - ${others}::text[] = ${JSON.stringify(options)}::jsonb - ${others}::text[]
      and (status <> 'finished' or r.outcomes -> 'over_budget' is null and not exists (
        select from run_rows o
        where o.run_id = r.run_id
          and (
            o.outcome = 'over_budget'
            or o.outcome = 'in_flight' and not exists (
              select from claims c
              where c.run_id = o.claimed_by_run_id and c.row_number = o.claimed_by_row_number
            )
          )
      ))
    limit 1
  `.execute(warehouse.database);
  return rows.length > 0;
}

/** Number of contacts that are compared. A sample of this size is enough to recognise a file. */
const contactsCompared = 10_000;

/** A contact that the warehouse knows, with its name cells in this file (`now`) and in the enriched row. */
interface KnownContact {
  readonly contact_id: string;
  readonly shares_key: boolean;
  readonly now: NameCells;
  readonly before: NameCells;
}

/**
 * Refuses a run without a named source if its contact ids belong to other people in the warehouse: a file of another
 * system with the same small ids would overwrite paid contacts. With a named source, records may change their person.
 *
 * @returns the problem `source.unnamed`; undefined: the run may continue
 */
export async function refuseUnnamedSource(
  warehouse: Warehouse,
  run: RunRecord,
): Promise<Problem | undefined> {
  const { source, options } = run;
  const isNamed = options.source !== null || options.mapping?.['source'] !== undefined;
  // The ids of a recognised CRM are reliable, so another name means that the record has become another person.
  if (isNamed || source !== 'generic') return undefined;
  const contacts = await readKnownContacts(warehouse, run.runId, source);
  const others = contacts.filter(
    ({ shares_key: sharesKey, now, before }) =>
      // E-mail or last name of a person may change.
      !sharesKey && !['agree', 'partly'].includes(compareNameCells(now, before)),
  );
  if (others.length === 0) return undefined;
  const ids = others.slice(0, 3).map((contact) => contact.contact_id);
  return new UsageProblem(
    'source.unnamed',
    `${formatCount(others.length, 'contact id')} of this file ` +
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

/**
 * Reads the enriched contacts with the ids of this file, without ids that were computed from cells (`key:`) and without
 * earlier runs of the same content.
 */
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
