import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { inEncoding } from '../helpers/exports/in-encoding.ts';
import { TestSystem } from '../helpers/system/test-system.ts';

const system = await TestSystem.ofFile({ worker: true });

async function factsOf(...parameters: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await system.here(parameters[0] === 'report' ? parameters : [...parameters, '--json']);
  return JSON.parse(stdout) as Record<string, unknown>;
}

it('enrich run reads a packed export in the encoding that --encoding names, and refuses it without', async () => {
  const file = join(system.directory, 'cyrillic.csv.gz');
  const rows = ['Иван', 'Пётр'].map((name, index) => `${name},Соколов,person${index}@orbit.example`);
  const text = `First Name,Last Name,Email\n${rows.join('\n')}\n`;
  writeFileSync(file, gzipSync(inEncoding(text, 'windows-1251')));
  const refused = await system.here(['run', file, '--yes']);
  expect(refused.stderr).toMatch(
    /line 2 \(row 1, column 1\)[^]*as Windows-1252: Èâàí[^]*--encoding windows-1252/,
  );
  expect(refused.code).toBe(2);
  const run = await factsOf('run', file, '--yes', '--encoding', 'windows-1251');
  expect(run).toMatchObject({ status: 'finished', rows: 2 });
  const read = await system.warehouse.query`
    select first_name from run_rows where run_id = ${run['run_id']} order by row_number`;
  expect(read).toEqual([{ first_name: 'Иван' }, { first_name: 'Пётр' }]);
});

describe('--json', () => {
  it('--json prints one object for each change of the suppression list, without a name', async () => {
    writeFileSync(
      join(system.directory, 'opt-outs.csv'),
      'email\nmira@nordlys.example\nola@nordlys.example\n',
    );
    expect(await factsOf('suppress', 'add', 'ada@orbit.example')).toEqual({ added: 1, present: 0 });
    expect(await factsOf('suppress', 'import', 'opt-outs.csv')).toEqual({ added: 2, nameless_rows: 0 });
    expect(await factsOf('suppress', 'list', 'ada@orbit.example', 'ben@orbit.example')).toMatchObject({
      listed: [true, false],
    });
    expect(await factsOf('suppress', 'remove', 'ada@orbit.example', '--yes')).toEqual({
      removed: 1,
      absent: 0,
    });
  });

  it('--json prints one object for a schedule that is set', async () => {
    const set = [
      'schedule',
      'set',
      'nightly',
      system.sample(5),
      '--cron',
      '0 2 * * *',
      '--max-credits',
      '50',
    ];
    expect(await factsOf(...set)).toMatchObject({ name: 'nightly', created: true, paused: false });
  });

  it('--json prints one object for a changed budget, with the runs that wait for it', async () => {
    const { budget, ...change } = await factsOf('budget', 'set', 'day', '800');
    expect(budget).toMatch(/^day:\d{4}-\d{2}-\d{2}$/);
    expect(change).toEqual({ before: null, after: '800', waiting_runs: [] });
  });

  it('enrich budget set every-month changes the current month and every later one', async () => {
    const changed = await factsOf('budget', 'set', 'every-month', '900');
    expect(changed).toMatchObject({ budget: expect.stringMatching(/^month:/) as string, after: '900' });
    const { stdout } = await system.here(['budget', 'show']);
    expect(stdout).toContain('every new month: 900');
    expect((await system.here(['budget', 'set', 'every-month', 'default'])).code).toBe(0);
  });

  it('--json prints the facts of a run that is paused and cancelled', async () => {
    await system.here(['run', system.sample(30), '--yes', '--max-credits', '1', '--on-budget', 'pause']);
    expect(await factsOf('cancel', 'latest')).toMatchObject({
      run_id: expect.any(String),
      status: 'cancelled',
      outcomes: { cancelled: expect.any(Number) },
    });
  });

  // `system.here` checks each output that has a JSON Schema.
  it.each([
    'attempts list --status all',
    'budget show',
    'changes --limit 1',
    'doctor',
    'erase ida@orbit.example',
    'export --for hubspot --output hubspot-import',
    'export --output contacts.jsonl',
    'inbox list',
    'match --email nils@orbit.example --yes',
    'migrate',
    'rebuild --check',
    'report latest --format json',
    'review list',
    'schedule show',
    'schedule show nightly',
    'sql',
    'status',
    'status latest',
    'suppress list',
    'undo latest',
    'usage',
    'usage --reconcile',
  ])('enrich %s prints JSON, which fits its JSON Schema if it has one', async (command) => {
    const facts = await factsOf(...command.split(' '));
    expect(facts).not.toHaveProperty('error');
  });
});
