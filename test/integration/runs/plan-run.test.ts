import { describe, expect, it } from 'vitest';
import type { RunOptions } from '../../../src/domain/runs/run-options.ts';
import { approveRun, getRun, setRunStatus } from '../../../src/runs/runs.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { planRun } from '../../../src/runs/planning/plan-run.ts';
import { findOrBeginRun } from '../../../src/runs/begin-run.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { outcomesOf, stagedRun, testSpec } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();
const refused = { kind: 'refused', pauseReason: { type: 'plan.changed' }, problem: { where: '--plan' } };
const budgets = {};
const dependencies = () => ({ warehouse, service: 'test', rateLimits: [], budgets, callConcurrency: 1 });

it('planRun() refuses a run if its plan differs from --plan, also when planRun() is repeated', async () => {
  const { runId } = await stagedRun(warehouse, [{ keys: ['email:ada@orbit.example'] }]);
  await warehouse.query`update runs set expected_plan_hash = '0123456789abcdef' where run_id = ${runId}`;
  expect(await planRun(dependencies(), runId)).toMatchObject(refused);
  expect(await planRun(dependencies(), runId)).toMatchObject(refused);
});

it('a later command with --plan sets the expected hash of a run that has no plan yet', async () => {
  const spec = testSpec();
  const run = await stagedRun(warehouse, [{ keys: ['email:bo@orbit.example'] }], spec);
  const { found } = await findOrBeginRun(warehouse, { ...spec, expectedPlanHash: '0123456789abcdef' });
  expect(found).toBe(true);
  expect(await planRun(dependencies(), run.runId)).toMatchObject(refused);
});

it('the estimated time of a plan grows with its number of calls', async () => {
  let exports = 0;
  const secondsOf = async (people: number): Promise<number | undefined> => {
    exports += 1;
    const rows = Array.from({ length: people }, (_, n) => ({
      keys: [`email:${exports}.${n}@timed.example`],
    }));
    const { runId } = await stagedRun(warehouse, rows, testSpec({ service: 'timed' }));
    const planned = await planRun({ ...dependencies(), service: 'timed' }, runId);
    return planned.kind === 'planned' ? planned.plan.eta_seconds : undefined;
  };
  expect([await secondsOf(10), await secondsOf(40)]).toEqual([1, 4]);
});

describe('expectations on an export', () => {
  const begin = async (emails: number, expectations: string | null, schedule: string | null = null) => {
    const spec = testSpec({ source: 'expecting', expectations, schedule });
    const rows = Array.from({ length: 4 }, (_, index) => ({
      keys: [`email:p${index}@${spec.fileSha256}.example`],
      ...(index < emails && { email: `p${index}@${spec.fileSha256}.example` }),
    }));
    const { runId } = await stagedRun(warehouse, rows, spec);
    await warehouse.query`update runs set mapping = '{"Email": "email"}' where run_id = ${runId}`;
    return runId;
  };

  /** Plans and starts a run as the workflow does. */
  const planAndRun = async (runId: string): Promise<void> => {
    await planRun(dependencies(), runId);
    await setRunStatus(warehouse, runId, 'running', undefined);
  };

  it('an unmet expectation on an export pauses the run before it spends, until the operator resumes it', async () => {
    const usual = await begin(4, null);
    await planAndRun(usual);
    expect(await getRun(warehouse, usual)).toMatchObject({ status: 'running' });
    await endRun(warehouse, usual, 'finished', { outcome: 'over_budget', reason: 'a test' });
    const runId = await begin(1, 'coverage=50%');
    await planAndRun(runId);
    const reason = expect.stringMatching(
      /nothing was paid: email is filled in 25\.0 % of the rows/,
    ) as string;
    const unmet = { status: 'paused', pauseReason: { type: 'expectation.unmet', reason } };
    expect(await getRun(warehouse, runId)).toMatchObject(unmet);
    await setRunStatus(warehouse, runId, 'running', undefined, { byOperator: true });
    await planAndRun(runId);
    expect(await getRun(warehouse, runId)).toMatchObject({ status: 'running' });
  });

  it('an unmet expectation does not pause a run that awaits approval, nor the run after the approval', async () => {
    const runId = await begin(1, 'coverage=50%');
    await warehouse.query`update runs set approved_at = null where run_id = ${runId}`;
    await planAndRun(runId);
    expect(await getRun(warehouse, runId)).toMatchObject({ status: 'awaiting_approval' });
    await approveRun(warehouse, runId);
    await planAndRun(runId);
    expect(await getRun(warehouse, runId)).toMatchObject({ status: 'running' });
  });

  it('an expectation compares a scheduled run only with earlier runs of the same schedule', async () => {
    const runId = await begin(0, 'coverage=50%', 'nightly');
    await planAndRun(runId);
    expect(await getRun(warehouse, runId)).toMatchObject({ status: 'running' });
  });
});

describe('--only and --order-by', () => {
  const header = ['Email', 'Stage', 'Score'];
  const begin = async (
    rows: readonly (readonly [key: string, stage: string, score: string, contactId?: string])[],
    choice: Partial<RunOptions>,
  ) => {
    const spec = testSpec(choice);
    const staged = rows.map(([key, , , contactId]) => ({
      keys: [`email:${key}@${spec.fileSha256}.example`],
      ...(contactId !== undefined && { contactId }),
    }));
    const { runId } = await stagedRun(warehouse, staged, spec);
    await warehouse.query`
      update runs set header = ${header}, mapping = '{"Email": "email"}' where run_id = ${runId}`;
    for (const [index, row] of rows.entries())
      await warehouse.query`
        update run_rows set raw = ${JSON.stringify(row.slice(0, 3))}
        where run_id = ${runId} and row_number = ${index + 1}`;
    return runId;
  };
  const asked = async (runId: string): Promise<number[]> => {
    const rows = await warehouse.query<{ row_number: number }>`
      select row_number from run_people where run_id = ${runId} order by position`;
    return rows.map((row) => row.row_number);
  };

  it('--order-by, descending, plans the greatest numbers first, then texts, then empty cells', async () => {
    const orderBy = { column: 'score', descending: true };
    const cells = ['9', '', '10', 'high', '1,000', '9'];
    const scores = cells.map((score, index) => [`o${index}`, '', score] as const);
    const runId = await begin(scores, { orderBy });
    await planRun(dependencies(), runId);
    expect(await asked(runId)).toEqual([5, 3, 1, 6, 4, 2]);
    const plain = await begin(scores, {});
    await planRun(dependencies(), plain);
    expect(await asked(plain)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('--only leaves out rows with other values, and keeps a contact if one of its rows has the value', async () => {
    const only = [{ column: 'Stage', values: ['customer'] }];
    const runId = await begin(
      [
        ['ada', 'lead', ''],
        ['ada', ' Customer', ''],
        ['bo', 'customer', ''],
        ['cy', 'lead', '', 'record-7'],
        ['dee', 'customer', '', 'record-7'],
        ['eve', 'lead\0', ''],
      ],
      { only },
    );
    expect(await planRun(dependencies(), runId)).toMatchObject({
      kind: 'planned',
      plan: { people: 3, dropped: { cancelled: 1, duplicate: 2 } },
    });
    expect(await asked(runId)).toEqual([2, 3, 5]);
    const outcomes = ['duplicate', null, null, 'duplicate', null, 'cancelled'];
    expect(await outcomesOf(warehouse, runId)).toEqual(outcomes);
  });

  it('another --only or --order-by begins a new run of the file; another --expect continues the run', async () => {
    const spec = testSpec();
    const withChoice = (choice: Partial<RunOptions>) => ({
      ...spec,
      options: { ...spec.options, ...choice },
    });
    const only = withChoice({ only: [{ column: 'Stage', values: ['customer'] }] });
    const { run } = await findOrBeginRun(warehouse, only);
    expect(await findOrBeginRun(warehouse, only)).toMatchObject({ found: true, run: { runId: run.runId } });
    for (const other of [{}, { orderBy: { column: 'Score', descending: true } }])
      expect(await findOrBeginRun(warehouse, withChoice(other))).toMatchObject({ found: false });
    const rules = { ...only, options: { ...only.options, expectations: 'usual', schedule: 'nightly' } };
    expect(await findOrBeginRun(warehouse, rules)).toMatchObject({
      found: true,
      run: { options: { expectations: 'usual', schedule: null } },
    });
  });

  it('--only with an unknown column is refused, and the error names only columns without personal data', async () => {
    const runId = await begin([['ada', 'lead', '']], { only: [{ column: 'Segment', values: ['a'] }] });
    await warehouse.query`update runs set header = '{Email, Ada Moreau}' where run_id = ${runId}`;
    expect(await planRun(dependencies(), runId)).toEqual({
      kind: 'refused',
      pauseReason: {
        type: 'column.unknown',
        reason: 'the file has no column "Segment" (--only)',
        next: 'name one of its columns: Email',
      },
      problem: expect.objectContaining({ where: '--only', exitCode: 2 }) as unknown,
    });
  });
});
