import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startScriptedServer } from '../helpers/servers/scripted-server.ts';
import { TestSystem } from '../helpers/system/test-system.ts';

/**
 * Clears the screen; sets the title of the window; the same introducer as one byte of C1; turns the order of text
 * around.
 */
const sequences = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202e';
// oxlint-disable-next-line no-control-regex -- these are what must not reach a terminal
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const system = await TestSystem.ofFile({ worker: true });
await system.here(['run', write('one.csv', 'email\nmira@nordlys.example\n'), '--yes']);

function write(name: string, content: string): string {
  const file = join(system.directory, name);
  writeFileSync(file, content);
  return file;
}

it('enrich dev says that another command runs the same servers already', async () => {
  const own = {
    TEMPORAL_ADDRESS: '',
    ENRICH_DATA_DIR: join(system.directory, 'shared'),
    WEBHOOK_PUBLIC_URL: 'https://hooks:canary@enrich.acme.example',
    WEBHOOK_LISTEN: '127.0.0.1:0',
  };
  const dev = system.begin(['dev'], own);
  onTestFinished(() => dev.kill('SIGTERM'));
  await expect.poll(dev.output).toContain('stop it with Ctrl-C');
  expect(dev.output()).not.toContain('share');
  expect(dev.output()).toContain('reached as https://hooks@enrich.acme.example');
  const another = system.begin(['dev'], own);
  onTestFinished(() => another.kill('SIGTERM'));
  await expect.poll(another.output).toContain('stop it with Ctrl-C');
  expect(another.output()).toContain('the commands share them, and the last one stops them');
  for (const each of [another, dev]) each.kill('SIGTERM');
  expect([await another.ended, await dev.ended]).toEqual([0, 0]);
});

describe('control characters of foreign text', () => {
  const people = `Email,First Name,Note ${sequences},"two\nlines"\nmira@nordlys.example,Mira,1,2\n`;

  it.each([
    ['a header and a file name', ['plan', `contacts ${sequences}.csv`], 0],
    ['an option that does not exist', ['status', `--${sequences}`], 2],
    ['an argument that is checked', ['attempts', 'release', sequences], 2],
    ['a run that is done', ['run', `contacts ${sequences}.csv`, '--yes', '--source', 'crm'], 0],
    ['the list of runs', ['status'], 0],
  ])('control characters of foreign text are shown as text: %s', async (_, parameters, code) => {
    write(`contacts ${sequences}.csv`, people);
    const ended = await system.here(parameters);
    expect(ended.stdout).not.toMatch(obeyed);
    expect(ended.stderr).not.toMatch(obeyed);
    expect(ended.stdout + ended.stderr).toContain('\\u001b[2J');
    expect(ended.code).toBe(code);
  });

  it('control characters of foreign text are unchanged for a program that reads --json', async () => {
    write(`contacts ${sequences}.csv`, people);
    const { stdout } = await system.here(['status', '--json']);
    expect(stdout).not.toMatch(obeyed);
    expect((JSON.parse(stdout) as { file: string }[])[0]!.file).toBe(`contacts ${sequences}.csv`);
  });

  it('control characters of foreign text begin no line in a table or an error', async () => {
    write(`contacts ${sequences}.csv`, people);
    expect((await system.here(['plan', `contacts ${sequences}.csv`])).stderr).toContain(', two lines\n');
    const missing = await system.here(['plan', 'a\n  next:  do harm']);
    expect(missing.stderr).not.toContain('\n  next:  do harm');
  });
});

it('a warning in a pipe is text on one line, and JSON with LOG_FORMAT=json', async () => {
  const { pool } = system.warehouse;
  await pool.query(`insert into enrichment.kysely_migration values ('9999-later', now()::text)`);
  const text = await system.here(['status']);
  const json = await system.enrich(['status'], { LOG_FORMAT: 'json' });
  await pool.query(`delete from enrichment.kysely_migration where name = '9999-later'`);
  expect(text.stderr).toMatch(
    /^[\d:]{8} warning: a newer release has migrated the warehouse: .*9999-later\)$/m,
  );
  expect(json.stderr).toMatch(/^\{"level":"warn",.*"migrations":\["9999-later"\]/m);
});

describe('standard output that takes no more', () => {
  it.each(['status --json', 'export'])(
    'a full standard output is an error of one sentence in enrich %s',
    async (command) => {
      const ended = await system.shell(`$ENRICH ${command} > /dev/full`);
      expect(ended.stderr).toMatch(
        /error: standard output cannot be written: the disk is full \(ENOSPC\)\n {2}next: /,
      );
      expect(ended.stderr.match(/error:/g)).toHaveLength(1);
      expect(ended.stderr).not.toMatch(/^\s+at /m);
      expect(ended.code).toBe(1);
    },
  );

  it('a closed pipe of the reader is no error', async () => {
    const ended = await system.shell('$ENRICH run --help | head -n 1');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });
});

it('a file name that is not UTF-8 is refused by name', async () => {
  const ended = await system.shell(
    `f=$(printf 'caf\\351.csv'); printf 'email\\nmira@nordlys.example\\n' > "$f"; $ENRICH plan "$f"; ` +
      'c=$?; rm "$f"; exit $c',
  );
  expect(ended.stderr).toMatch(/error: the name of the file is not UTF-8\n {2}where: .*caf.*\.csv\n/);
  expect(ended.code).toBe(2);
});

describe('an error under --json', () => {
  it.each([
    ['a file that is missing', ['run', 'missing.csv', '--yes', '--json'], 2, 'export.missing'],
    ['a run that is unknown', ['pause', 'run-none', '--json'], 2, 'run.unknown'],
    [
      'a database that is away',
      ['status', '--json', '--database-url', 'postgres://127.0.0.1:1/none'],
      1,
      'database.unreachable',
    ],
  ])('an error under --json is one JSON object on standard output: %s', async (_, parameters, code, type) => {
    const ended = await system.here(parameters);
    expect(JSON.parse(ended.stdout)).toEqual({
      error: {
        type,
        message: expect.any(String),
        where: expect.any(String),
        next: expect.any(String),
      },
      exit_code: code,
    });
    expect(ended.stderr).toContain('error: ');
    expect(ended.code).toBe(code);
  });

  it('an interruption under --json is one JSON object', async () => {
    // The command reads its standard input to the end before it plans: once it holds the bytes, it is at work.
    const ended = await system.shell(
      `mkfifo in; $ENRICH plan - --json < in > out & p=$!; exec 3> in; echo 'Email,Name' >&3
       until [ -n "$(find . -path '*staging*' -type f)" ]; do sleep 0.1; done
       kill -INT $p; wait $p; c=$?; cat out; rm -f out in; exit $c`,
    );
    expect(JSON.parse(ended.stdout)).toMatchObject({ error: { type: 'interrupted' }, exit_code: 130 });
    expect(ended.code).toBe(130);
  });
});

it('enrich sql --command prints the rows of a statement as a table, or with --csv as CSV', async () => {
  const command = [
    'sql',
    '--command',
    `select email, null as empty, 'a "b"' as quoted from enriched_contacts`,
  ];
  expect(await system.here(command)).toMatchObject({
    stdout: '  email                 empty  quoted\n  mira@nordlys.example         a "b"\n1 row\n',
    code: 0,
  });
  expect((await system.here([...command, '--csv'])).stdout).toBe(
    'email,empty,quoted\nmira@nordlys.example,,"a ""b"""\n',
  );
});

it('enrich sql --command --json prints the rows as one array of objects', async () => {
  const statement = `select email, null as empty, true as yes, 7::bigint as "number", 2.50 as "decimal",
      '{"a": [1]}'::jsonb as "json", array['x', null] as list, timestamptz '2026-11-20 02:00:00+02' as "time"
      from enriched_contacts`;
  const { stdout, code } = await system.here(['sql', '-c', statement, '--json']);
  expect({ rows: JSON.parse(stdout) as unknown, code }).toEqual({
    rows: [
      {
        email: 'mira@nordlys.example',
        empty: null,
        yes: true,
        number: 7,
        decimal: '2.50',
        json: { a: [1] },
        list: ['x', null],
        time: '2026-11-20T00:00:00.000Z',
      },
    ],
    code: 0,
  });
  expect((await system.here(['sql', '-c', 'select 1 where false', '--json'])).stdout).toBe('[]\n');
});

const creation = 'create table written ()';

it.each([
  creation,
  'set transaction read write',
  `commit; begin read write; ${creation}; commit`,
  `do $$ begin commit; set transaction read write; ${creation}; commit; end $$`,
])(
  'enrich sql --command runs one statement and writes nothing when its text asks for it: %s',
  async (text) => {
    const { stderr, code } = await system.here(['sql', '--command', text]);
    expect(stderr).toMatch(
      /read-only transaction|read-write mode|invalid transaction termination|multiple commands/,
    );
    expect(code).toBe(2);
  },
);

it('an error that no code catches ends the command, and its values are not printed', async () => {
  // As the driver reports a refused row.
  const detail = 'Key (email)=(ada@orbit.example)';
  const refused = `Object.assign(new Error('a row of ada@orbit.example'), { detail: '${detail}' })`;
  const rejecting = `data:text/javascript,setTimeout(()=>Promise.reject(${refused}),1000)`;
  const silent = await startScriptedServer(
    () => {},
    () => true,
  );
  onTestFinished(() => silent.close());
  const { code, stdout, stderr } = await system.enrich(['pause', 'latest', '--json'], {
    NODE_OPTIONS: `--import=${rejecting.replaceAll(' ', '%20')}`,
    DATABASE_URL: `postgres://127.0.0.1:${silent.port}/enrich`,
  });
  expect(stdout + stderr).not.toContain('ada@');
  expect(stderr).toContain('error: a row of [email]');
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { error: { type: 'unforeseen' }, exit_code: 1 }]);
});

it('enrich sql prints the line that opens psql, without a password', async () => {
  expect((await system.here(['sql'])).stdout).toBe(
    `PGOPTIONS='-c search_path=enrichment,public' psql "$DATABASE_URL"\n`,
  );
});
