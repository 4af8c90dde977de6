import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { getSchedule } from '../../src/cli/schedule/schedule-server.ts';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { TestSystem, type EndedCommand } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

const system = await TestSystem.ofFile({ worker: true });
mkdirSync(join(system.directory, 'exports'));

/** Writes an export. Each seed has other invented people, and a higher seed has a later modification time. */
function write(name: string, people: number, seed: number): void {
  const file = join(system.directory, 'exports', name);
  writeFileSync(file, [...sampleExport({ people, seed })].join(''));
  utimesSync(file, 1_000 * seed, 1_000 * seed);
}

function schedule(...parameters: readonly string[]): Promise<EndedCommand> {
  return system.here(['schedule', ...parameters]);
}

/** Splits a command line at spaces; no flag has a space in it. */
function words(line: string): string[] {
  return line.split(' ');
}

interface Shown {
  readonly paused: boolean;
  readonly flags: Readonly<Record<string, string>>;
  readonly next: readonly string[];
  readonly recent: readonly { readonly status: string; readonly summary: string }[];
}

async function show(name: string): Promise<Shown> {
  return JSON.parse((await schedule('show', name, '--json')).stdout) as Shown;
}

/** Triggers a schedule, and waits until the workflow of this trigger has ended. */
async function fire(name: string, times: number): Promise<Shown> {
  expect((await schedule('trigger', name)).code).toBe(0);
  await timesEnded(name, times);
  return show(name);
}

/** Waits until a schedule has this number of ended workflows. */
async function timesEnded(name: string, times: number): Promise<void> {
  const client = await system.temporal();
  const ended = async (): Promise<number> => {
    const { description } = await getSchedule(client, name);
    const handles = description.info.recentActions.map(({ action: { workflow } }) =>
      client.workflow.getHandle(workflow.workflowId, workflow.firstExecutionRunId),
    );
    const states = await Promise.all(handles.map((handle) => handle.describe()));
    return states.filter(({ status }) => status.name !== 'RUNNING').length;
  };
  await expect.poll(ended, { interval: 100 }).toBe(times);
}

it('a schedule enriches the newest file, and makes no call when it fires again for the same file', async () => {
  write('crm-1.csv', 30, 1);
  write('crm-2.csv', 60, 2);
  const made = await schedule(
    ...words('set nightly --timezone Europe/Berlin --newest exports/*.csv --max-credits 500'),
    '--cron',
    '0 2 * * *',
  );
  expect(made.code).toBe(0);
  expect(made.stderr).toMatch(/would find now: \S+crm-2\.csv; /);

  const first = await fire('nightly', 1);
  expect(first.recent[0]).toMatchObject({ status: 'completed', summary: 'crm-2.csv finished' });
  expect(system.sandbox.log.bill().calls).toBeGreaterThan(0);
  const rows = await system.warehouse.query`
    select rows_staged, options ->> 'priority' as priority, approved_at is not null as approved
    from enrichment.runs where status = 'finished'`;
  expect(rows).toEqual([{ rows_staged: 60, priority: 'nightly', approved: true }]);

  const { calls } = system.sandbox.log.bill();
  const again = await fire('nightly', 2);
  expect(again.recent[1]).toMatchObject({ status: 'completed', summary: 'crm-2.csv finished' });
  expect(system.sandbox.log.bill().calls).toBe(calls);
  await expectPromisesKept(system);
});

it('enrich schedule shows its run that waits for the operator, and "latest" names this run', async () => {
  write('poor-1.csv', 40, 9);
  await schedule(
    ...words('set poor --cron @hourly --newest exports/poor-*.csv --max-credits 3 --on-budget pause'),
  );
  expect((await schedule('trigger', 'poor')).code).toBe(0);
  const status = async (): Promise<unknown> => {
    const rows = await system.warehouse.query`
      select status from enrichment.runs where file_path like '%poor-1.csv' and status <> 'planned'`;
    return rows[0];
  };
  await expect.poll(status, { interval: 100 }).toEqual({ status: 'paused' });
  expect((await show('poor')).recent[0]).toMatchObject({
    status: 'paused',
    summary: expect.stringMatching(/^poor-1\.csv: .*; next: enrich budget set run:\S+/),
  });
  const asked = await schedule('delete', 'poor', '--json');
  expect(asked).toMatchObject({ code: 3, stdout: expect.stringContaining('"deleted":false') as string });
  const deleted = await schedule('delete', 'poor', '--yes');
  expect(deleted.stderr).toMatch(/has not ended, and continues; to end it: enrich cancel enrich-poor-/);
  const cancelled = await system.here(['cancel', 'latest']);
  expect(cancelled.stderr).toMatch(/latest is \S+ \(poor-1\.csv\): paused/);
  expect(await schedule('show', 'poor')).toMatchObject({ code: 2 });
  await expectPromisesKept(system);
});
