/**
 * Benchmark of growth: does a night cost the same after two years of nights?
 *
 * `npm run bench:growth [-- --nights 730 --rows 300]`. Each night plans an export with a third of new people and, after
 * three months, a sixth of people who are no longer fresh. The night looks up these people, records their answers,
 * searches one person as an erasure does, and prunes what is older than its retention. The clock of an embedded
 * PostgreSQL is moved ahead by a day each night. A statement that always costs the same shows how fast the machine is,
 * and times are corrected to the first month. Prints a line a month, and compares the last three months with months 4
 * to 6.
 */
import { randomUUID } from 'node:crypto';
import { cpus } from 'node:os';
import { readOpenPeople } from '../../src/calls/batches/open-people.ts';
import { recordAnswer, answerWith } from '../helpers/warehouse/answers.ts';
import { openWarehouse } from '../../src/db/database.ts';
import { creditsFromWhole } from '../../src/domain/money/decimal.ts';
import { parseRetention } from '../../src/domain/runs/retention.ts';
import type { Person } from '../../src/domain/identity/person.ts';
import { createAdmission } from '../../src/ledger/admit.ts';
import { measureErasure } from '../../src/privacy/erase.ts';
import { prune } from '../../src/privacy/prune.ts';
import { finishRun } from '../../src/runs/finish-run.ts';
import { openPage } from '../../src/runs/pages.ts';
import { planRun } from '../../src/runs/planning/plan-run.ts';
import { reconcileContacts } from '../../src/runs/reconcile-contacts.ts';
import { setRunStatus } from '../../src/runs/runs.ts';
import { stagedRun, testSpec, type StagedRow } from '../helpers/warehouse/rows.ts';
import { installSimulatedClock, setSimulatedClock } from '../helpers/database/simulated-clock.ts';
import { openBenchDatabase } from './bench-database.ts';
import { benchOptions } from './command-line.ts';
import { quantile } from './quantile.ts';
import { testWarehouse, type TestWarehouse } from '../helpers/database/test-warehouse.ts';

const wanted = benchOptions('nights', 'rows');
const nights = Number(wanted.nights ?? 730);
const rowsPerNight = Number(wanted.rows ?? 300);
const newPerNight = Math.floor(rowsPerNight / 3);
const againPerNight = Math.floor(rowsPerNight / 6);
const nightsPerMonth = 30;
const nightsPerWeek = 7;
const service = 'test';
const day = 86_400;
const freshDays = 90;
const asked = {
  freshness: { enrichedSeconds: freshDays * day, notFoundSeconds: 30 * day },
  fieldGroups: ['profile'],
  service,
};
const retention = parseRetention(
  'answers=30d,deliveries=30d,quarantine=30d,staging=30d,rows=90d,observations=30d,changes=30d',
);
const { signal } = new AbortController();
const limits = { service, rateLimits: [{ calls: 600, seconds: 3_600 }], budgets: {} };

interface Month {
  readonly month: number;
  /** Number of rows by table. */
  readonly tables: Readonly<Record<string, number>>;
  /** Median milliseconds of each step, and the 99th percentile of admissions. */
  readonly times: Readonly<Record<string, number>>;
}

/** Milliseconds of each step of one night. */
interface Night {
  readonly plan: number;
  readonly admissions: readonly number[];
  readonly records: readonly number[];
  readonly reconcile: number;
  readonly erasure: number;
  readonly prune: number;
  /** Milliseconds of the statement that always costs the same, which show the speed of the machine. */
  readonly machine: number;
}

const { databaseUrl, close } = await openBenchDatabase();
try {
  const warehouse = testWarehouse(openWarehouse(databaseUrl));
  await installSimulatedClock(warehouse);
  // Calls have connections of their own, which keep their query plans for years, as in a worker.
  const callWarehouse = testWarehouse(openWarehouse(databaseUrl, { keepsPlans: true }));
  const months = await simulate(warehouse, callWarehouse);
  compare(months);
  await Promise.all([warehouse.close(), callWarehouse.close()]);
} finally {
  await close();
}

async function simulate(warehouse: TestWarehouse, callWarehouse: TestWarehouse): Promise<Month[]> {
  console.log(
    `${cpus().length} processors, ${nights} nights, ${rowsPerNight} rows a night, ${newPerNight} of them new`,
  );
  const months: Month[] = [];
  let past: Night[] = [];
  let firstMachine: number | undefined;
  for (let night = 1; night <= nights; night += 1) {
    await setSimulatedClock(warehouse, night * day);
    past.push(await oneNight(warehouse, callWarehouse, night));
    // Autovacuum would analyze once a day, but here a day passes within a second. An analyze takes longer than a night.
    if (night < nightsPerWeek || night % nightsPerWeek === 0) await warehouse.pool.query('analyze');
    if (night % nightsPerMonth !== 0) continue;
    firstMachine ??= quantile(past.map(({ machine }) => machine));
    const times = timesOf(past, firstMachine);
    await warehouse.pool.query('vacuum');
    const month = { month: night / nightsPerMonth, tables: await countRows(warehouse), times };
    past = [];
    months.push(month);
    const show = (figures: Readonly<Record<string, number>>, digits: number): string =>
      Object.entries(figures)
        .map(([name, figure]) => `${name} ${figure.toFixed(digits)}`)
        .join(', ');
    console.log(`month ${month.month}: ${show(month.times, 1)} ms; rows: ${show(month.tables, 0)}`);
  }
  return months;
}

async function oneNight(
  warehouse: TestWarehouse,
  callWarehouse: TestWarehouse,
  night: number,
): Promise<Night> {
  const { database } = callWarehouse;
  const spec = testSpec();
  const options = { ...spec.options, freshness: asked.freshness };
  const { runId } = await stagedRun(warehouse, exportOf(night), { ...spec, options });
  const plan = await timed(() => planRun({ warehouse, ...limits, callConcurrency: 10 }, runId));
  await setRunStatus(warehouse, runId, 'running', undefined);
  const reconcile = await timed(() => reconcileContacts(warehouse, runId, signal));
  const { batches } = await openPage(warehouse, runId, 1, asked);
  const admit = createAdmission(database, limits);
  const admissions: number[] = [];
  const records: number[] = [];
  for (const batch of batches) {
    const people = await readOpenPeople(database, runId, batch);
    const rowNumbers = people.map(({ rowNumber }) => rowNumber);
    const call = { runId, batch, priority: 'nightly', rowNumbers, deadlineSeconds: 30 } as const;
    const attemptId = randomUUID();
    admissions.push(
      await timed(async () => {
        const request = { ...call, attemptId, creditsPerPerson: creditsFromWhole(1), lateResults: false };
        const admission = await admit(request);
        if (admission.kind !== 'admitted') throw new Error(JSON.stringify(admission));
      }),
    );
    const matches = people.map(({ contactId }) => personOf(Number(contactId.slice(1)), night));
    const answer = answerWith(matches, { requestId: `${night}-${batch}` });
    records.push(
      await timed(() =>
        recordAnswer(callWarehouse, {
          attemptId,
          people,
          answer,
          asked: { reveal: [], waterfall: [], service },
          lateResults: { pollAfterSeconds: 60, deadlineSeconds: 3_600 },
        }),
      ),
    );
  }
  await finishRun(warehouse, runId, 'finished', undefined);
  const erasure = await timed(() =>
    measureErasure(warehouse, [`email:${personOf(night * newPerNight - 1, night).email}`]),
  );
  const pruned = await timed(() => prune(warehouse, retention, signal));
  const machine = await timed(() => warehouse.pool.query('select count(*) from generate_series(1, 100000)'));
  return { plan, admissions, records, reconcile, erasure, prune: pruned, machine };
}

/**
 * Returns the rows of a night: new people, people who are no longer fresh, and people looked up in the last two months.
 */
function exportOf(night: number): StagedRow[] {
  const first = (night - 1) * newPerNight;
  const known = Math.min(first, 60 * newPerNight);
  return Array.from({ length: known === 0 ? newPerNight : rowsPerNight }, (_, index) => {
    const number = index < newPerNight ? first + index : knownNumber(night, index - newPerNight);
    const { email, first_name: firstName, last_name: lastName } = personOf(number, night);
    return {
      keys: [`email:${email}`],
      email: email!,
      firstName: firstName!,
      lastName: lastName!,
      contactId: `c${number}`,
    };
  });
}

/** Returns the number of a known person: from the night that is now no longer fresh, or from the last two months. */
function knownNumber(night: number, index: number): number {
  const earlier = night - freshDays - 1;
  if (index < againPerNight && earlier > 0) return (earlier - 1) * newPerNight + index;
  const first = (night - 1) * newPerNight;
  return first - 1 - ((index * 7_919) % Math.min(first, 60 * newPerNight));
}

function personOf(number: number, night: number): Person {
  const domain = `company${Math.floor(number / 20)}.example`;
  return {
    id: `p${number}`,
    first_name: 'Ada',
    last_name: `Novak${number}`,
    email: `person${number}@${domain}`,
    email_status: 'verified',
    title: `Engineer ${(number + night) % 100}`,
    organization: { id: `o${Math.floor(number / 20)}`, name: domain, primary_domain: domain },
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** Counts the rows of growing tables, as the last analyze of PostgreSQL has estimated them. */
async function countRows({ pool }: TestWarehouse): Promise<Record<string, number>> {
  await pool.query('analyze');
  const { rows } = await pool.query<{ name: string; rows: number }>(
    `select relname as name, reltuples::float8 as rows from pg_class
     where relkind = 'r' and relnamespace::regnamespace::text like 'enrichment%' and reltuples > 100 order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
}

/** Returns the medians of a month, corrected to the speed of the machine in the first month. */
function timesOf(past: readonly Night[], firstMachine: number): Record<string, number> {
  const machine = quantile(past.map((night) => night.machine));
  const admissions = past.flatMap((night) => night.admissions);
  const times = {
    plan: quantile(past.map(({ plan }) => plan)),
    admission: quantile(admissions),
    'admission p99': quantile(admissions, 0.99),
    record: quantile(past.flatMap(({ records }) => records)),
    reconcile: quantile(past.map(({ reconcile }) => reconcile)),
    erasure: quantile(past.map(({ erasure }) => erasure)),
    prune: quantile(past.map((night) => night.prune)),
  };
  const corrected = Object.entries(times).map(([name, time]) => [name, (time * firstMachine) / machine]);
  return { ...Object.fromEntries(corrected), machine };
}

/** Compares the last three months with months 4 to 6: until then tables fill up to their retention. */
function compare(months: readonly Month[]): void {
  if (months.length < 9) return console.log('nine months or more are compared: --nights 270');
  const [early, late] = [months.slice(3, 6), months.slice(-3)];
  for (const name of Object.keys(months[0]?.times ?? {})) {
    const [before, after] = [early, late].map((each) => quantile(each.map(({ times }) => times[name]!)));
    const change = 100 * (after! / before! - 1);
    console.log(
      `${name}: ${before!.toFixed(1)} ms in months 4 to 6, ${after!.toFixed(1)} ms in the last three ` +
        `(${change < 0 ? '' : '+'}${change.toFixed(0)} %)`,
    );
  }
}
