import type { Command } from 'commander';
import { afterAll, beforeEach, afterEach, expect, it, vi } from 'vitest';
import { matchCommand } from '../../../src/cli/commands/match.ts';
import { usageCommand } from '../../../src/cli/commands/usage.ts';
import { Population } from '../../../src/sandbox/population.ts';
import { defaultApiKey } from '../../../src/sandbox/server.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';
import { httpAnswer, startScriptedServer } from '../../helpers/servers/scripted-server.ts';

const known = new Population().numbered(0);
let printed: string;
let told: string;

const sandbox = await startSandbox();
const databaseUrl = await createTestDatabase();

afterAll(() => sandbox.close());

beforeEach(() => {
  printed = '';
  told = '';
  vi.stubEnv('ENRICHMENT_API_KEY', defaultApiKey);
  vi.stubEnv('DATABASE_URL', databaseUrl);
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    told += String(text);
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.exitCode = undefined;
});

async function run(command: Command, ...options: string[]): Promise<void> {
  await runAt(sandbox.baseUrl, command, ...options);
}

async function runAt(baseUrl: string, command: Command, ...options: string[]): Promise<unknown> {
  vi.stubEnv('ENRICHMENT_BASE_URL', baseUrl);
  return command.parseAsync(options, { from: 'user' });
}

it('enrich match shows the request and its price, and sends nothing without approval', async () => {
  const calls = sandbox.log.calls(0).length;
  await run(matchCommand(), '--id', known.id, '--name', '  Mira   Lindqvist ');
  expect(told).toContain('Mira Lindqvist');
  expect(told).toContain('at most 1');
  expect(process.exitCode).toBe(3);
  expect(sandbox.log.calls(0)).toHaveLength(calls);
});

it('enrich match prints the original answer with its exact request id', async () => {
  await run(matchCommand(), '--id', known.id, '--yes', '--json');
  expect(printed).toContain(`"request_id":${sandbox.log.calls(0).at(-1)?.requestId}`);
});

it('enrich match sends nothing if the day budget or the rate limit has no call left', async () => {
  const calls = sandbox.log.calls(0).length;
  vi.stubEnv('MAX_CREDITS_PER_DAY', '0');
  await expect(run(matchCommand(), '--id', known.id, '--yes')).rejects.toMatchObject({
    type: 'match.over-budget',
  });
  vi.stubEnv('MAX_CREDITS_PER_DAY', '1000');
  vi.stubEnv('RATE_LIMITS', '1/hour');
  await expect(run(matchCommand(), '--id', known.id, '--yes')).rejects.toMatchObject({
    type: 'match.no-slot',
  });
  expect(sandbox.log.calls(0)).toHaveLength(calls);
});

/** Runs `enrich match` with its own service and database, so that a pause delays no other test. */
async function matchAt(status: number, body: object): Promise<unknown> {
  vi.stubEnv('DATABASE_URL', await createTestDatabase());
  const server = await startScriptedServer((socket) => {
    socket.write(httpAnswer(status, JSON.stringify(body)));
  });
  try {
    return await runAt(server.baseUrl, matchCommand(), '--id', 'p-1', '--yes');
  } finally {
    await server.close();
  }
}

it('enrich match says how to correct refused data, and when to repeat a rate-limited call', async () => {
  await expect(matchAt(422, { error: 'invalid' })).rejects.toMatchObject({
    type: 'validation',
    next: 'correct the options of the command',
  });
  const limited = { error_details: { suggestions: [{ label: 'Wait', retry_after_seconds: 90 }] } };
  await expect(matchAt(429, limited)).rejects.toMatchObject({
    type: 'rate-limited',
    next: 'try again in 90 seconds; enrich usage shows the calls that are left',
  });
});

it.each([
  [[], 'match.no-person'],
  [['--name', 'Ann Lee'], 'match.no-person'],
  [['--email', 'nonsense'], 'match.unusable'],
])('enrich match refuses %o before anything is sent', async (options, type) => {
  await expect(run(matchCommand(), ...options, '--yes')).rejects.toMatchObject({ type, exitCode: 2 });
});

it.each([
  ['credit_usage_stats', '{"current_credit_cycle":{},"credit_usage_stats":{}}', 'rate windows'],
  ['api_usage_stats', '{}', 'credits'],
])(
  'enrich usage shows the values of %s if the service refuses the rest, and names what is missing',
  async (given, body, missing) => {
    const server = await startScriptedServer((socket, request) => {
      socket.write(httpAnswer(request.includes(`/${given}`) ? 200 : 403, body));
    });
    await runAt(server.baseUrl, usageCommand(), '--json');
    await server.close();
    expect(told).toContain(`the service does not state the ${missing}: `);
    expect(JSON.parse(printed)).toMatchObject(
      missing === 'credits' ? { windows: [], credits: null } : { windows: null, credits: { kinds: [] } },
    );
    expect(process.exitCode).toBe(3);
  },
);

it('enrich usage --reconcile shows earlier statements if the service gives no new one (exit code 3)', async () => {
  const answers = [httpAnswer(200, statement('7')), httpAnswer(200, statement('9.5')), httpAnswer(403, '{}')];
  const server = await startScriptedServer((socket) => {
    socket.write(answers.shift()!);
  });
  const reconcile = () => runAt(server.baseUrl, usageCommand(), '--reconcile', '--json');
  await reconcile();
  await reconcile();
  expect(told).not.toContain('gave no statement');
  expect(process.exitCode).toBeUndefined();
  expect(JSON.parse(printed.trim().split('\n').at(-1)!)).toMatchObject({ missing_statement: null });
  printed = '';
  await reconcile();
  await server.close();
  expect(told).toContain('the service gave no statement now');
  expect(process.exitCode).toBe(3);
  expect(JSON.parse(printed)).toMatchObject({
    missing_statement: expect.stringContaining('403'),
    cycles: [{ billed: '2.5' }],
  });
});

function statement(consumed: string): string {
  return (
    `{"credit_usage_stats":{"email":{"limit":100,"consumed":${consumed},"left_over":1}},` +
    '"current_credit_cycle":{"start_date":"2026-11-01","end_date":"2026-11-30"}}'
  );
}
