import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { takenPort } from '../helpers/servers/ports.ts';
import { startScriptedServer } from '../helpers/servers/scripted-server.ts';
import { TestSystem } from '../helpers/system/test-system.ts';

/** Tests of what all commands share: usage errors, --json, text from outside, and standard streams. */
const system = await TestSystem.ofFile({ worker: true });

/** Control sequences that clear the screen, set the window title (twice, once with a C1 byte), and reverse the text. */
const sequences = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202e';
// oxlint-disable-next-line no-control-regex -- these characters must not reach a terminal
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

function write(name: string, content: string | Buffer): string {
  const file = join(system.directory, name);
  writeFileSync(file, content);
  return file;
}

const people = `Email,First Name,Note ${sequences},"two\nlines"\nmira@nordlys.example,Mira,1,2\n`;
const hostile = `contacts ${sequences}.csv`;
write(hostile, people);
write('good.csv', 'email,first_name\nmira@nordlys.example,Mira\n');

async function runs(): Promise<RunFacts[]> {
  return JSON.parse((await system.here(['status', '--json'])).stdout) as RunFacts[];
}

it.each<[string, string | Buffer, string[]]>([
  ['bytes', Buffer.from([0x00, 0x01, 0xff, 0xfe, 0x80, 0x0a, 0xc3, 0x28]), []],
  ['no column that identifies people', 'red,green\n1,2\n', []],
  ['an Excel workbook', 'PK\u0003\u0004 [Content_Types].xml', []],
  ['half of a gzip file', gzipSync('email\nmira@nordlys.example\n').subarray(0, 30), []],
  [
    'a mapping file with a column that does not exist',
    'email\nmira@nordlys.example\n',
    ['--mapping', 'm.yaml'],
  ],
  ['--only with a column that does not exist', 'email\nmira@nordlys.example\n', ['--only=Segment=a']],
])(
  'enrich run begins no run for a wrong export, and the error has what, where and next: %s',
  async (_, content, options) => {
    write('m.yaml', 'columns: {email: No such column}');
    const ended = await system.here(['run', write('wrong.csv', content), '--yes', ...options]);
    expect(ended.stderr).toMatch(/^error: .+\n {2}where: .+\n(?: {2}cell: {2}.+\n)* {2}next: .+/m);
    expect(ended.code).toBe(2);
    expect(await runs()).toEqual([]);
  },
);

it.each([
  ['where: FILE', ['run']],
  ['--people', ['demo', '--people', '0']],
  ['is not a number of credits  where: --max-credits', ['plan', 'good.csv', '--max-credits', '-5']],
  ['no source "nope"  where: --source', ['export', '--source', 'nope']],
  ['there is no column "emale"', ['export', '--select', 'emale']],
  ['not in the form SOURCE/ID  where: --contact', ['erase', '--contact', 'hubspot5001']],
  ['several people may read this email', ['erase', 'info@orbit.example', '--yes']],
  ['the warehouse has no source "nowhere"', ['review', 'list', '--source', 'nowhere']],
  ['where: NAME', ['schedule', 'set', 'a b', 'good.csv', '--cron', '@daily']],
  ['Unrecognized key: "form"  where: bad.yaml', ['sandbox', '--scenario', 'bad.yaml']],
])(
  'a wrong flag or argument is a usage error with exit code 2 and a next step: %s for enrich %j',
  async (text, parameters) => {
    write('bad.yaml', 'rules: [{ form: 1, status: 500 }]\n');
    const ended = await system.here(parameters);
    const [what = '', where = ''] = ended.stderr.slice(ended.stderr.indexOf('error:')).split('\n');
    expect((what + where).replace('where: ' + system.directory + '/', 'where: ')).toContain(text);
    expect(ended.stderr).toContain('  next:');
    expect(ended.code).toBe(2);
  },
);

it.each<[command: string[], setting: string]>([
  [['sandbox'], 'SANDBOX_PORT'],
  [['receiver'], 'WEBHOOK_LISTEN'],
  [['codec-server'], 'CODEC_SERVER_LISTEN'],
])(
  'a port in use is a usage error that names the setting of the port: enrich %j with %s',
  async (command, setting) => {
    const port = await takenPort();
    const ended = await system.hereAlone(command, {
      TEMPORAL_CODEC_KEYS: `2026-11:${Buffer.alloc(32, 7).toString('base64')}`,
      CODEC_SERVER_TOKEN: 'a token of the test',
      [setting]: setting === 'SANDBOX_PORT' ? String(port) : `127.0.0.1:${port}`,
    });
    expect(ended.stderr).toMatch(new RegExp(`port ${port} is taken[^]*${setting}`));
    expect(ended.code).toBe(2);
  },
);

it('enrich run with a refused credential begins no run', async () => {
  const refused = await system.here(['run', 'good.csv', '--yes'], { ENRICHMENT_API_KEY: 'wrong' });
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain('the service does not accept the credential');
  expect(await runs()).toEqual([]);
});

it('enrich plan leaves no run, and removes the rows of an earlier plan that was killed', async () => {
  const rows = () => system.warehouse.query`select count(*)::int as rows from run_rows`;
  expect((await system.enrich(['plan', 'good.csv'], { ENRICH_KILL_AT: 'planned' })).code).toBeNull();
  expect(await rows()).toEqual([{ rows: 1 }]);
  await system.warehouse.query`update runs set created_at = created_at - interval '2 days'`;
  expect((await system.here(['plan', 'good.csv', '--json'])).code).toBe(0);
  expect(await rows()).toEqual([{ rows: 0 }]);
  expect(await runs()).toEqual([]);
  expect((await system.here(['budget', 'show'])).stdout).not.toContain('run:');
});

it('enrich run reads a gzip export with --encoding, and refuses the export without the flag', async () => {
  // The names Иван and Пётр in Windows-1251, each byte shown as a Latin-1 character.
  const names = ['Èâàí', 'Ï\xb8òð'].map((name, index) => `${name},x,person${index}@orbit.example`);
  const text = `First Name,Last Name,Email\n${names.join('\n')}\n`;
  const file = write('cyrillic.csv.gz', gzipSync(Buffer.from(text, 'latin1')));
  const refused = await system.here(['run', file, '--yes']);
  expect(refused.stderr).toMatch(/line 2\n[^]*line 2, as Windows-1252: Èâàí[^]*--encoding windows-1252/);
  expect(refused.code).toBe(2);
  const run = await system.here(['run', file, '--yes', '--json', '--encoding', 'windows-1251']);
  expect(run.facts()).toMatchObject({ status: 'finished', rows: 2 });
  const read = await system.warehouse.query`
    select first_name from run_rows where run_id = ${run.facts().run_id} order by row_number`;
  expect(read).toEqual([{ first_name: 'Иван' }, { first_name: 'Пётр' }]);
});

// `system.here` checks each output that has a JSON Schema. The rows run in this order, and later rows need the effects
// of earlier rows.
it.each([
  `run ${hostile.replaceAll(' ', '\t')} --yes --source crm`,
  'attempts list --status all',
  'budget set month 900',
  'budget show',
  'changes --limit 1',
  'doctor',
  'export --output contacts.jsonl',
  'inbox list',
  'match --email nils@orbit.example --yes',
  'migrate',
  'rebuild --check',
  'report latest --format json',
  'review list',
  'schedule set nightly good.csv --cron @daily --max-credits 50',
  'schedule show',
  'schedule show nightly',
  'sql -c select\temail\tfrom\tenriched_contacts',
  'status',
  'status latest',
  'suppress add ida@orbit.example',
  'suppress import good.csv',
  'suppress list',
  'suppress remove ida@orbit.example --yes',
  'undo latest',
  'usage',
  'usage --reconcile',
  'erase ida@orbit.example',
])('enrich %s prints JSON, which fits its JSON Schema if it has one', async (command) => {
  const words = command.split(' ').map((word) => word.replaceAll('\t', ' '));
  const json = words[0] === 'report' ? words : [...words, '--json'];
  const { stdout } = await system.here(json);
  expect(stdout).not.toMatch(obeyed);
  expect(JSON.parse(stdout)).not.toHaveProperty('error');
});

it.each([
  ['a file that is missing', ['run', 'missing.csv', '--yes', '--json'], 2, 'export.missing'],
  ['a flag that does not exist', ['attempts', 'list', '--bogus', '--json'], 2, 'usage'],
  ['an unreachable database', ['status', '--json'], 1, 'database.unreachable'],
])(
  'an error of a command with --json is one JSON object on standard output: %s',
  async (_, parameters, code, type) => {
    const away = type === 'database.unreachable' && { DATABASE_URL: 'postgres://127.0.0.1:1/none' };
    const ended = await system.here(parameters, { ...away });
    const text = expect.any(String) as string;
    const error = { type, message: text, where: text, next: text };
    expect(JSON.parse(ended.stdout)).toEqual({ error, exit_code: code });
    expect(ended.stderr).toContain('error: ');
    expect(ended.code).toBe(code);
  },
);

it('SIGINT during a command with --json prints one JSON object with exit code 130', async () => {
  // The command reads its standard input to the end before it plans. A file in the staging folder shows that the
  // command has begun to read.
  const ended = await system.shell(
    `mkfifo in; $ENRICH plan - --json < in > out & p=$!; exec 3> in; echo 'Email,Name' >&3
     until [ -n "$(find . -path '*staging*' -type f)" ]; do sleep 0.1; done
     kill -INT $p; wait $p; c=$?; cat out; rm -f out in; exit $c`,
  );
  expect(JSON.parse(ended.stdout)).toMatchObject({ error: { type: 'interrupted' }, exit_code: 130 });
  expect(ended.code).toBe(130);
});

it.each([
  ['a header and a file name', ['plan', hostile], 0],
  ['an option that does not exist', ['status', `--${sequences}`], 2],
  ['an argument that the command refuses', ['attempts', 'release', sequences], 2],
  ['the list of runs', ['status'], 0],
])('control characters in text from outside are made visible: %s', async (_, parameters, code) => {
  const ended = await system.here(parameters);
  expect(ended.stdout + ended.stderr).not.toMatch(obeyed);
  expect(ended.stdout + ended.stderr).toContain('\\u001b[2J');
  expect(ended.code).toBe(code);
});

it('a command whose standard output cannot be written prints one error without a stack trace', async () => {
  const ended = await system.shell('$ENRICH status --json > /dev/full');
  expect(ended.stderr).toMatch(
    /error: standard output cannot be written: the disk is full \(ENOSPC\)\n {2}next: /,
  );
  expect(ended.stderr.match(/error:/g)).toHaveLength(1);
  expect(ended.stderr).not.toMatch(/^\s+at /m);
  expect(ended.code).toBe(1);
});

it('enrich sql --command runs one read-only statement, and refuses statements that would write', async () => {
  const creation = 'create table written ()';
  for (const text of [
    creation,
    `commit; begin read write; ${creation}; commit`,
    `do $$ begin commit; set transaction read write; ${creation}; commit; end $$`,
  ]) {
    const { stderr, code } = await system.here(['sql', '--command', text]);
    expect(stderr).toMatch(
      /read-only transaction|read-write mode|invalid transaction termination|multiple commands/,
    );
    expect(code).toBe(2);
  }
  const statement = `select 7::bigint as "number", 2.50 as "decimal", timestamptz '2026-11-20 02:00:00+02' as "time"`;
  expect(JSON.parse((await system.here(['sql', '-c', statement, '--json'])).stdout)).toEqual([
    { number: 7, decimal: '2.50', time: '2026-11-20T00:00:00.000Z' },
  ]);
});

it('an unexpected error ends the command, and personal data in the error is not printed', async () => {
  // The PostgreSQL driver reports a refused row in this form.
  const detail = 'Key (email)=(ada@orbit.example)';
  const refused = `Object.assign(new Error('a row of ada@orbit.example'), { detail: '${detail}' })`;
  const rejecting = `data:text/javascript,setTimeout(()=>Promise.reject(${refused}),3000)`;
  // This server never answers, so the command waits for its database until the error occurs.
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

it('the compiled enrich prints its version and its help, for which it loads every command', async () => {
  expect((await system.here(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await system.enrich(['--help'])).toMatchObject({ code: 0, stderr: '' });
});
