import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { sampleExport } from '../../src/sandbox/sample-export.ts';
import { takenPort } from '../helpers/servers/ports.ts';
import { stagedRun } from '../helpers/warehouse/rows.ts';
import { TestSystem } from '../helpers/system/test-system.ts';
import { httpAnswer, startScriptedServer } from '../helpers/servers/scripted-server.ts';

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
    expect(ended.stderr).toMatch(/^error: .+\n {2}where: .+\n {2}next: {2}.+/m);
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

  it.each([
    ['--query "…"', '--query', "select 'x' as kontakt"],
    ['--from-table public.unrecognised', '--from-table', 'public.unrecognised'],
  ])(
    'the next step of an unrecognised header names the export as it was given: %s',
    async (named, ...given) => {
      await system.warehouse.query`create table if not exists public.unrecognised (kontakt text)`;
      const ended = await system.here(['plan', ...given]);
      expect(ended.stderr).toContain(`enrich plan ${named} --write-mapping columns.yaml`);
      expect(ended.code).toBe(2);
    },
  );

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
    ['--limit', ['status', '--limit', '0']],
    ['--people', ['demo', '--people', '0']],
    ['--seed', ['demo', '--seed', '1.5']],
    ['--port', ['sandbox', '--port', '70000']],
    ['--match-rate', ['sandbox', '--match-rate', '1.5']],
    ['--rate-limits', ['sandbox', '--rate-limits', '20/q']],
    ['--max-credits', ['plan', 'good.csv', '--max-credits', 'abc']],
    ['--max-credits must be credits from 0 up', ['plan', 'good.csv', '--max-credits', '-5']],
    ['no source "nope"  where: --source', ['export', '--source', 'nope']],
    ['no source "nope"  where: --source', ['export', '--for', 'zoho', '--source', 'nope', '--output', 'out']],
    ['--freshness', ['plan', 'good.csv', '--freshness', 'soon']],
    ['--rate-limits', ['plan', 'good.csv', '--rate-limits', '20/q']],
    ['--plan', ['run', 'good.csv', '--plan', 'the-last-one']],
    ['--bogus', ['attempts', 'list', '--bogus']],
    ['FILE', ['run']],
    ['FILE', ['plan', 'good.csv', '--from-table', 'crm.contacts']],
    ['--encoding', ['plan', '--from-table', 'crm.contacts', '--encoding', 'windows-1251']],
    ['not in the form SOURCE/ID  where: --contact', ['erase', '--contact', 'hubspot5001']],
    ['where: --contact', ['erase', '--contact', 'hubspot/5001']],
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
    ['enrich plan', '--order-by', ['plan', 'good.csv', '--order-by', '']],
    // The next word is --json, which is a flag and no value.
    ['enrich plan', '--max-credits', ['plan', 'good.csv', '--max-credits']],
    ['enrich export', '--output', ['export', '--output']],
    ['enrich export', '--for', ['export', '--for', 'hubspot', '--table', 'phones', '--output', 'out']],
    ['enrich erase', '--reason', ['erase', 'ada@orbit.example', '--yes', '--reason']],
    ['enrich attempts list', '--bogus', ['attempts', 'list', '--bogus']],
    ['enrich', 'enrich', ['no-such-command']],
    ['enrich', 'enrich', ['help', 'no-such-command']],
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
      ['priority', 'latest', 'high'],
      '"high" is not valid',
      '<priority> of enrich priority',
      /^write one of ad-hoc, /,
    ],
    [
      ['report', 'latest', '--format', 'xml'],
      '"xml" is not valid',
      '--format',
      /^write one of terminal, .*html$/,
    ],
    [
      ['status', '--limit', 'many'],
      '"many" is not valid',
      '--limit',
      /^write a whole number, from 1 to 10000$/,
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

it('a command warns of a variable that is nearly a setting, on standard error', async () => {
  const ended = await system.here(['status', '--json'], { RATE_LIMIT: '5/hour', MAX_CREDIT_PER_DAY: '4' });
  expect(ended.stderr).toContain('warning: RATE_LIMIT is no setting: did you mean RATE_LIMITS?\n');
  expect(ended.stderr).toContain(
    'warning: MAX_CREDIT_PER_DAY is no setting: did you mean MAX_CREDITS_PER_DAY?\n',
  );
  expect(JSON.parse(ended.stdout)).toEqual([]);
  expect(ended.code).toBe(0);
});

it('enrich demo is refused if workers of a Temporal server would call and pay their own service', async () => {
  const ended = await system.here(['demo'], { TEMPORAL_ADDRESS: '127.0.0.1:1' });
  expect(ended.stderr).toContain('  where: TEMPORAL_ADDRESS\n');
  expect(ended.code).toBe(2);
});

it('enrich report refuses a file whose extension no format of a report has', async () => {
  const ended = await system.here(['report', 'latest', '--output', 'report.docx']);
  expect(ended.stderr).toContain('enrich report writes no .docx files');
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

  it('enrich match names the sandbox, which the command itself calls', async () => {
    const ended = await system.here(['match', '--email', 'mira@nordlys.example'], {
      ENRICHMENT_BASE_URL: '',
      ENRICHMENT_API_KEY: '',
    });
    expect(ended.stderr).toContain('service: the sandbox on this machine');
    expect(ended.code).toBe(3);
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
  const ended = await system.enrich(['run', 'good.csv', '--yes', '--plan', '0123456789abcdef']);
  expect(ended.stdout).toMatch(/failed: the plan has the hash [0-9a-f]{16}, and not 0123456789abcdef: /);
  expect(ended.stderr).not.toContain('"level"');
  expect(ended.code).toBe(2);
});

it.each([
  ['--source <name>', ['run', 'good.csv', '--yes', '--source', '']],
  ['--only <filter>', ['plan', 'good.csv', '--only', '']],
  ['file', ['run', '']],
])('an empty %s is a usage error', async (named, command) => {
  const ended = await system.here(command);
  expect(ended.stderr).toMatch(new RegExp(`'${named.slice(0, 6)}.*empty`));
  expect(ended.code).toBe(2);
});

it('a Temporal address without a port is a wrong setting', async () => {
  const ended = await system.here(['schedule', 'list'], { TEMPORAL_ADDRESS: 'temporal' });
  expect(ended.stderr).toContain('TEMPORAL_ADDRESS must be HOST:PORT');
  expect(ended.code).toBe(2);
});

it.each([
  [404, 'offers no usage statistics'],
  [403, 'may not read usage statistics'],
])('enrich usage names what a service that answers %i does not offer', async (status, what) => {
  const service = await startScriptedServer((socket) => socket.end(httpAnswer(status, '{}')));
  const ended = await system.here(['usage'], { ENRICHMENT_BASE_URL: service.baseUrl });
  await service.close();
  expect(ended.stderr).toContain(what);
  expect(ended.stderr).not.toContain('ENRICHMENT_BASE_URL');
  expect(ended.code).toBe(1);
});

it('enrich doctor continues after a wrong setting', async () => {
  const ended = await system.here(['doctor'], { ENRICHMENT_BASE_URL: 'hello', RATE_LIMITS: 'many' });
  expect(ended.stdout).toMatch(/BROKEN {2}service +ENRICHMENT_BASE_URL must be an address/);
  expect(ended.stdout).toMatch(/BROKEN {2}rate limits +RATE_LIMITS is wrong/);
  expect(ended.stdout).toMatch(/ok +database/);
  expect(ended.code).toBe(1);
});

it.each<[code: number, command: string[]]>([
  [1, ['status', '--database-url', 'postgres://127.0.0.1:1/none']],
  [2, ['status', '--limit', '0']],
  [3, ['run', 'good.csv']],
])(
  'a command that ends with exit code %i ends when a library leaves something running: enrich %j',
  async (code, command) => {
    const ended = await system.enrich(command, {
      NODE_OPTIONS: '--import data:text/javascript,setInterval(()=>{},1000)',
    });
    expect(ended.code).toBe(code);
  },
);

it('enrich sandbox names a key file that cannot be read', async () => {
  const ended = await system.here(['sandbox', '--api-key-file', 'none']);
  expect(ended.stderr).toMatch(
    /^error: the key cannot be read: no such file or folder \(ENOENT\)\n {2}where: --api-key-file none\n/,
  );
  expect(ended.code).toBe(2);
});

it('the compiled enrich prints its version, and loads every command for its help', async () => {
  expect((await system.enrich(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await system.enrich(['--help'])).toMatchObject({ code: 0, stderr: '' });
});
