import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { takenPort } from '../helpers/servers/ports.ts';
import { stagedRun } from '../helpers/warehouse/rows.ts';
import { TestSystem } from '../helpers/system/test-system.ts';

const system = await TestSystem.ofFile();
write('good.csv', [...sampleExport({ people: 30, seed: 7 })].join(''));

function write(name: string, content: string | Buffer): string {
  const file = join(system.directory, name);
  writeFileSync(file, content);
  return file;
}

async function runs(): Promise<RunFacts[]> {
  return JSON.parse((await system.here(['status', '--json'])).stdout) as RunFacts[];
}

describe('a wrong file or mapping', () => {
  const packed = gzipSync('email\nmira@nordlys.example\n');
  const files: readonly [string, string | Buffer][] = [
    ['bytes.csv', Buffer.from([0x00, 0x01, 0xff, 0xfe, 0x80, 0x0a, 0xc3, 0x28])],
    ['colours.csv', 'red,green\n1,2\n'],
    ['book.csv', 'PK\u0003\u0004 [Content_Types].xml'],
    ['object.csv', '{"email": "mira@nordlys.example"}'],
    ['half.csv.gz', packed.subarray(0, packed.length - 12)],
    ['twice.csv', 'email,email,first_name\nmira@nordlys.example,ola@nordlys.example,Mira\n'],
  ];

  it.each(files)('a wrong file is a usage error: %s', async (name, content) => {
    const ended = await system.here(['run', write(name, content), '--yes']);
    expect(ended.stderr).toMatch(/^error: .+\n {2}where: .+\n(?: {2}cell: {2}.+\n)* {2}next: {2}.+/m);
    expect(ended.code).toBe(2);
  });

  it.each(['columns: {emale: Email}', 'columns: {email: No such column}', 'columns: ['])(
    'a wrong mapping is a usage error: %s',
    async (mapping) => {
      const ended = await system.here(['run', 'good.csv', '--yes', '--mapping', write('m.yaml', mapping)]);
      expect(ended.stderr).toMatch(/^error: .+\n {2}where: .+\n {2}next: {2}.+/m);
      expect(ended.code).toBe(2);
    },
  );

  it('the next step of an unrecognised header names the query as it was given', async () => {
    const ended = await system.here(['plan', '--query', "select 'x' as kontakt"]);
    expect(ended.stderr).toContain('enrich plan --query "…" --write-mapping columns.yaml');
    expect(ended.code).toBe(2);
  });

  it('run --write-mapping of an unrecognised header ends as a usage error, because nothing was run', async () => {
    const file = write('unknown-run.csv', 'Nr,Kontakt\nK-1,mira@orbit.example\nK-2,jon@orbit.example\n');
    const ended = await system.here([
      'run',
      file,
      '--yes',
      '--write-mapping',
      join(system.directory, 'run.yaml'),
    ]);
    expect(ended.stderr).toMatch(/^error: no column identifies people/m);
    expect(ended.code).toBe(2);
  });

  it.each(['--only=Segment=a', '--order-by=Segment desc'])(
    'a choice of rows by a missing column is a usage error that lists the columns: %s',
    async (choice) => {
      const ended = await system.here(['run', 'good.csv', '--yes', choice]);
      expect(ended.stderr).toMatch(/no column "Segment"\n {2}where: --.+\n {2}next: .+Record ID, First Name/);
      expect(ended.code).toBe(2);
    },
  );

  it('a wrong file or mapping begins no run', async () => {
    expect((await system.here(['run', write('wrong.csv', 'red,green\n1,2\n'), '--yes'])).code).toBe(2);
    expect(await runs()).toEqual([]);
  });
});

it.each([
  ['rules: [{ form: 1, status: 500 }]', 'Unrecognized key: "form"', 'rules[0]'],
  ['rule: []', 'Unrecognized key: "rule"', 'bad.yaml'],
  ['rules: [{ status: 200 }]', 'expected number to be >=400', 'rules[0].status'],
  ['rules: [{ answer: htm }]', 'expected one of "html"|"empty"', 'rules[0].answer'],
])('enrich sandbox --scenario names the mistake in %s', async (content, what, where) => {
  const ended = await system.here(['sandbox', '--scenario', write('bad.yaml', `${content}\n`)]);
  const [error, place, step] = ended.stderr.slice(ended.stderr.indexOf('error:')).split('\n');
  expect(error).toContain(what);
  expect(place).toContain(where);
  expect(step).toContain('docs/sandbox.md');
  expect(ended.code).toBe(2);
});

describe('a flag that cannot be read', () => {
  it.each([
    ['--limit', ['status', '--limit', 'x']],
    ['--people', ['demo', '--people', '0']],
    ['--port', ['sandbox', '--port', '70000']],
    ['--max-credits must be credits from 0 up', ['plan', 'good.csv', '--max-credits', '-5']],
    ['no source "nope"  where: --source', ['export', '--source', 'nope']],
    ['no source "nope"  where: --source', ['export', '--for', 'zoho', '--source', 'nope', '--output', 'out']],
    ['--freshness', ['plan', 'good.csv', '--freshness', 'soon']],
    ['--rate-limits', ['plan', 'good.csv', '--rate-limits', '20/q']],
    ['--plan', ['run', 'good.csv', '--plan', 'the-last-one']],
    ['FILE', ['run']],
    ['FILE', ['plan', 'good.csv', '--query', 'select 1']],
    ['--encoding', ['plan', '--query', 'select 1', '--encoding', 'windows-1251']],
    ['not in the form SOURCE/ID  where: --contact', ['erase', '--contact', 'hubspot5001']],
    ['where: NAME', ['schedule', 'set', 'a b', 'good.csv', '--cron', '@daily']],
    ['where: FILE', ['schedule', 'set', 'nightly', '--cron', '@daily', '--no-budget']],
  ])('an unreadable flag is a usage error that names it: %s of %j', async (flag, parameters) => {
    const ended = await system.here(parameters);
    const [what = '', where = ''] = ended.stderr.slice(ended.stderr.indexOf('error:')).split('\n');
    expect(what + where).toContain(flag);
    expect(ended.stderr).toContain('  next:');
    expect(ended.code).toBe(2);
  });

  it.each([
    // The next word is --json, which is a flag and no value.
    ['enrich plan', '--max-credits', ['plan', 'good.csv', '--max-credits']],
    ['enrich export', '--for', ['export', '--for', 'hubspot', '--table', 'phones', '--output', 'out']],
    ['enrich attempts list', '--bogus', ['attempts', 'list', '--bogus']],
    ['enrich', 'enrich', ['no-such-command']],
    ['enrich budget', 'enrich budget', ['budget', 'help', 'no-such-command']],
  ])(
    'the JSON of a usage error names the help of %s, and the place %s: %j',
    async (name, where, parameters) => {
      const ended = await system.here([...parameters, '--json']);
      expect(JSON.parse(ended.stdout)).toEqual({
        error: {
          type: 'usage',
          message: expect.any(String),
          where,
          next: `${name} --help shows what it takes, and an example`,
        },
        exit_code: 2,
      });
      expect(ended.stderr).toContain('error: ');
      expect(ended.code).toBe(2);
    },
  );

  it.each([
    [
      ['report', 'latest', '--format', 'xml'],
      '"xml" is not valid',
      '--format',
      /^write one of terminal, .*html$/,
    ],
  ])(
    'the error of a value that a command does not take says what it takes: %j',
    async (parameters, message, where, next) => {
      const ended = await system.here([...parameters, '--json']);
      expect(JSON.parse(ended.stdout)).toEqual({
        error: { type: 'usage', message, where, next: expect.stringMatching(next) },
        exit_code: 2,
      });
    },
  );

  it('an unreadable flag is named once, as the variable if it was one', async () => {
    const ended = await system.here(['plan', 'good.csv'], { ENRICHMENT_BASE_URL: 'hello' });
    expect(ended.stderr).toContain('  where: ENRICHMENT_BASE_URL\n');
    expect(ended.code).toBe(2);
  });

  it.each<[command: string[], setting: string]>([
    [['sandbox'], 'SANDBOX_PORT'],
    [['receiver'], 'WEBHOOK_LISTEN'],
    [['dev'], 'WEBHOOK_LISTEN'],
    [['run', 'good.csv', '--yes'], 'WEBHOOK_LISTEN'],
    [['codec-server'], 'CODEC_SERVER_LISTEN'],
  ])('a used port is a usage error that names its setting: enrich %j with %s', async (command, setting) => {
    const port = await takenPort();
    const ended = await system.hereAlone(command, {
      WEBHOOK_LISTEN: '127.0.0.1:0',
      TEMPORAL_CODEC_KEYS: `2026-11:${Buffer.alloc(32, 7).toString('base64')}`,
      CODEC_SERVER_TOKEN: 'a token of the test',
      [setting]: setting === 'SANDBOX_PORT' ? String(port) : `127.0.0.1:${port}`,
    });
    expect(ended.stderr).toMatch(new RegExp(`port ${port} is taken[^]*${setting}`));
    expect(ended.stderr).not.toMatch(/^run /m);
    expect(ended.code).toBe(2);
    expect(await runs()).toEqual([]);
  });
});

it('enrich demo is refused if workers of a Temporal server would call and pay their own service', async () => {
  const ended = await system.here(['demo'], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  expect(ended.stderr).toContain('  where: TEMPORAL_ADDRESS\n');
  expect(ended.code).toBe(2);
});

describe('a command beside a Temporal server, without a service in its own settings', () => {
  it('enrich run shows no user and no limits of the sandbox, which the workers do not call', async () => {
    const ended = await system.here(['run', 'good.csv', '--yes'], {
      ENRICHMENT_BASE_URL: '',
      ENRICHMENT_API_KEY: '',
      TEMPORAL_ADDRESS: '127.0.0.1:9',
    });
    expect(ended.stderr).toContain('service: the one in the settings of the workers of 127.0.0.1:9');
    expect(ended.stderr).toContain('Temporal does not answer');
    expect(ended.stderr).not.toMatch(/acting as|bulk calls left|sandbox/);
    expect(ended.code).toBe(1);
  });
});

it('enrich match --json without --yes prints the request as JSON and sends nothing', async () => {
  const ended = await system.here(['match', '--email', 'mira@nordlys.example', '--json']);
  expect(JSON.parse(ended.stdout)).toEqual({
    sent: false,
    request: { email: 'mira@nordlys.example' },
    maximum_credits: expect.stringMatching(/^\d+$/) as string,
  });
  expect(ended.code).toBe(3);
});

it.each([
  ['enrich export', ['export']],
  ['enrich export --for', ['export', '--for', 'hubspot']],
])('%s into a folder that cannot be is wrong usage', async (_, command) => {
  const { runId } = await stagedRun(system.warehouse, []);
  await system.warehouse.query`update runs set source = 'hubspot' where run_id = ${runId}`;
  onTestFinished(async () => {
    await system.warehouse.query`delete from runs where run_id = ${runId}`;
  });
  const ended = await system.here([...command, '--output', '/proc/none/contacts.csv']);
  expect(ended.stderr).toContain('writ');
  expect(ended.code).toBe(2);
});

it('enrich run --plan refuses another plan in a sentence, without a log', async () => {
  const ended = await system.hereAlone(['run', 'good.csv', '--yes', '--plan', '0123456789abcdef']);
  expect(ended.stdout).toMatch(/the plan has the hash [0-9a-f]{16}, and not 0123456789abcdef: /);
  expect(ended.stderr).not.toContain('"level"');
  expect(ended.code).toBe(2);
});

it('a Temporal address without a port is a wrong setting', async () => {
  const ended = await system.here(['schedule', 'show'], { TEMPORAL_ADDRESS: 'temporal' });
  expect(ended.stderr).toContain('TEMPORAL_ADDRESS must be HOST:PORT');
  expect(ended.code).toBe(2);
});

it('enrich doctor continues after a wrong setting', async () => {
  const ended = await system.here(['doctor'], { ENRICHMENT_BASE_URL: 'hello', RATE_LIMITS: 'many' });
  expect(ended.stdout).toMatch(/BROKEN {2}service +ENRICHMENT_BASE_URL must be an address/);
  expect(ended.stdout).toMatch(/BROKEN {2}rate limits +RATE_LIMITS is wrong/);
  expect(ended.stdout).toMatch(/ok +database/);
  expect(ended.code).toBe(1);
});

it('a command that is refused ends when a library leaves something running', async () => {
  const ended = await system.enrich(['status', '--limit', '0'], {
    NODE_OPTIONS: '--import data:text/javascript,setInterval(()=>{},1000)',
  });
  expect(ended.code).toBe(2);
});

it('the compiled enrich prints its version, and loads every command for its help', async () => {
  expect((await system.enrich(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await system.enrich(['--help'])).toMatchObject({ code: 0, stderr: '' });
});
