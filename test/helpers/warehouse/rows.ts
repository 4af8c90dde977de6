import { sql } from 'kysely';
import type { Outcome } from '../../../src/domain/runs/outcome.ts';
import { approveRun, setRunStatus, type RunRecord } from '../../../src/runs/runs.ts';
import { findOrBeginRun, type RunSpec } from '../../../src/runs/begin-run.ts';
import type { LookupRequest } from '../../../src/runs/planning/drop-rows.ts';
import { openBudgetsOfRun } from '../../../src/ledger/credit-ledger.ts';
import { reopenUnknownRows } from '../../../src/ledger/decide-attempt.ts';
import type { TestWarehouse } from '../database/test-warehouse.ts';
import type { RunOptions, ScheduledOptions } from '../../../src/domain/runs/run-options.ts';
import type { ClientBase, Pool } from 'pg';
import type { Warehouse } from '../../../src/db/database.ts';
import { addSuppressions } from '../../../src/suppression/suppression-list.ts';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import {
  fieldOfColumn,
  identityColumns,
  type Identity,
  type IdentityColumns,
} from '../../../src/domain/identity/identity.ts';

/** Service, freshness and field groups of the look-ups in tests. */
export const testLookupRequest: LookupRequest = {
  freshness: { enrichedSeconds: 86_400, notFoundSeconds: 3_600 },
  fieldGroups: ['profile'],
  service: 'test',
};

/** Freshness of a run that looks up every person again. */
export const neverFresh = { enrichedSeconds: 0, notFoundSeconds: 0 };

/** The user and the reason of a command in tests. */
export const testNote = { by: 'test', reason: undefined };

/** A signal that never stops its work. */
export const noSignal = new AbortController().signal;

/** One staged row of an export. */
export interface StagedRow extends Identity {
  /** Default: the keys that staging computes. */
  readonly keys?: readonly string[];
  readonly optedOut?: boolean;
  readonly optedOutOfCalls?: boolean;
  readonly outcome?: Outcome;
  readonly contactId?: string;
}

let files = 0;

/** A new run spec, without a file. */
export function testSpec(options: Partial<RunOptions> = {}): RunSpec {
  files += 1;
  return {
    filePath: `/nowhere/${files}.csv`,
    fileName: `${files}.csv`,
    fileSha256: `sha-${files}`,
    options: {
      service: 'test',
      serviceOf: 'command',
      ...unsetOptions,
      schedule: null,
      lateDeadlineSeconds: 86_400,
      freshness: { enrichedSeconds: 86_400, notFoundSeconds: 3_600 },
      priority: 'ad-hoc',
      pilot: null,
      ...options,
    },
    expectedPlanHash: null,
  };
}

/** Begins a run with staged rows. */
export async function stagedRun(
  warehouse: TestWarehouse,
  rows: readonly StagedRow[],
  spec: RunSpec = testSpec(),
): Promise<RunRecord> {
  const { run } = await findOrBeginRun(warehouse, spec);
  await approveRun(warehouse, run.runId);
  const staged = rows.map((row, index) => ({
    run_id: run.runId,
    row_number: index + 1,
    contact_id: row.contactId ?? `contact-${index + 1}`,
    outcome: row.outcome ?? null,
    raw: '[]',
    keys: [...(row.keys ?? identityKeys(row))],
    opted_out: row.optedOut ?? false,
    opted_out_of_calls: row.optedOutOfCalls ?? false,
    ...identityCells(row),
  }));
  if (staged.length > 0) await warehouse.database.insertInto('run_rows').values(staged).execute();
  await warehouse.database
    .updateTable('runs')
    .set({ rows_staged: rows.length, ingested_at: new Date(), source: spec.options.source ?? 'generic' })
    .where('run_id', '=', run.runId)
    .execute();
  return run;
}

/** Returns the identifying columns of a row. */
export function identityCells(identity: Identity) {
  const cells = identityColumns.map((column) => [column, identity[fieldOfColumn[column]] ?? null]);
  return Object.fromEntries(cells) as { -readonly [Column in keyof IdentityColumns]: string & string[] };
}

/** Begins a run with status `running`, its own budget and 1,500 rows without an outcome. */
export async function runningRun(
  warehouse: TestWarehouse,
  limit: string | null = null,
  rows = 1_500,
): Promise<string> {
  const run = await stagedRun(warehouse, []);
  await warehouse.query`
    insert into run_rows (run_id, row_number, contact_id, raw, keys)
    select ${run.runId}, n, 'contact-' || n, '[]', '{}' from generate_series(1, ${rows}::integer) n`;
  await setRunStatus(warehouse, run.runId, 'running', undefined);
  await openBudgetsOfRun(warehouse.database, run.runId);
  await limitBudget(warehouse, run.runId, limit);
  return run.runId;
}

/** Sets the limit of the budget of a run; null: no limit. */
export async function limitBudget(
  { query }: Pick<TestWarehouse, 'query'>,
  runId: string,
  limit: number | string | null,
): Promise<void> {
  await query`update budgets set credits_limit = ${limit} where budget_id = ${`run:${runId}`}`;
}

/** Reopens rows of unknown calls, as for a run with `--on-unknown retry`. */
export function reopenRows(
  warehouse: TestWarehouse,
  runId: string,
  rows: readonly number[],
): Promise<number[]> {
  const retrying = { runId, options: { onUnknown: 'retry' } } as const;
  return reopenUnknownRows(warehouse, retrying, sql`select unnest(${rows}::int[])`);
}

/** Returns the outcome of each row by row number. */
export async function outcomesOf(warehouse: TestWarehouse, runId: string): Promise<(string | null)[]> {
  const rows = await warehouse.database
    .selectFrom('run_rows')
    .select('outcome')
    .where('run_id', '=', runId)
    .orderBy('row_number')
    .execute();
  return rows.map((row) => row.outcome);
}

/** The options of a run or schedule without any flag. */
export const unsetOptions = {
  source: null,
  mapping: null,
  maxCredits: null,
  reveal: [],
  waterfall: [],
  maxCreditsPerPerson: null,
  freshness: null,
  lateDeadlineSeconds: null,
  onBudget: null,
  onUnknown: 'hold',
  minMatchRate: null,
  expectations: null,
  only: [],
  orderBy: null,
} as const satisfies ScheduledOptions;

/** Inserts a lookup of an identity into the history. */
export async function insertLookup(
  database: Pool | ClientBase,
  lookup: {
    readonly key: string;
    readonly fieldGroup?: string;
    /** True if the person was found; null if the service returned a person that the row did not accept. */
    readonly found?: boolean | null;
    readonly secondsAgo?: number;
    readonly runId?: string;
    readonly service?: string;
  },
): Promise<void> {
  const { key, fieldGroup = 'profile', found = true, secondsAgo = 0, service = 'test' } = lookup;
  await database.query(
    `insert into lookup_history (key_hash, field_group, found, asked_at, lookup_run)
     values (key_hash($1, $6), $2, $3, now() - make_interval(secs => $4), number_lookup_run($5, $6))`,
    [key, fieldGroup, found, secondsAgo, lookup.runId ?? `run-before-at-${service}`, service],
  );
}

/** Puts identity keys on the suppression list, as `enrich suppress add` does. */
export async function addToSuppressionList(
  { database }: Warehouse,
  ...keys: readonly string[]
): Promise<void> {
  await database.transaction().execute((transaction) => addSuppressions(transaction, keys, testNote));
}
