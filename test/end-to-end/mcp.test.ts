import { appendFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { expect, it, onTestFinished } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';
import { TestSystem } from '../helpers/system/test-system.ts';

const system = await TestSystem.ofFile({ latency: 30 });

async function openAgent(settings: Record<string, string> = {}): Promise<Client> {
  const agent = await system.agent(settings);
  onTestFinished(() => agent.close());
  return agent;
}

async function answerOf(agent: Client, name: string, given: object): Promise<CallToolResult> {
  return (await agent.callTool({ name, arguments: { ...given } })) as CallToolResult;
}

/** Returns the result of a tool. The client checks the result against the schema that the tool lists. */
async function use<Result>(agent: Client, name: string, given: object): Promise<Result> {
  const { isError, content, structuredContent } = await answerOf(agent, name, given);
  expect([isError, content]).toEqual([
    undefined,
    [{ type: 'text', text: JSON.stringify(structuredContent) }],
  ]);
  return structuredContent as Result;
}

/** Returns the error of a tool call that must fail. */
async function refusal(agent: Client, name: string, given: object): Promise<unknown> {
  const { isError, content } = await answerOf(agent, name, given);
  expect(isError).toBe(true);
  const { text } = content[0] as { text: string };
  return text.startsWith('{') ? (JSON.parse(text) as { error: object }).error : text;
}

const sentence = expect.any(String) as string;
const typed = (type: string) => ({ type, message: sentence, where: sentence, next: sentence });

interface Plan {
  readonly plan_hash: string;
  readonly credits: { readonly worst_case: string };
}

/** Plans a file, and returns the input of the tool run. */
async function approved(agent: Client, file: string) {
  const { plan_hash, credits } = await use<Plan>(agent, 'plan', { file });
  return { file, plan_hash, max_credits: Number(credits.worst_case) };
}

it('enrich mcp names its service, and marks all its tools except the tool run as read-only', async () => {
  const agent = await openAgent();
  expect(agent.getInstructions()).toContain(`service: ${new URL(system.sandbox.baseUrl).host}`);
  const { tools } = await agent.listTools();
  expect(Object.fromEntries(tools.map((tool) => [tool.name, tool.annotations?.readOnlyHint]))).toEqual({
    plan: true,
    run: false,
    status: true,
    report: true,
    sql: true,
  });
});

it('the tool plan returns what enrich plan --json prints, and refuses a wrong export or option', async () => {
  const agent = await openAgent();
  const file = system.sample(12);
  const options = { only: ['Country/Region=Spain', 'Country/Region=France'], 'max-credits': '5' };
  const flags = [...options.only.flatMap((each) => ['--only', each]), '--max-credits', '5'];
  const printed = await system.hereAlone(['plan', file, ...flags, '--json']);
  expect(await use(agent, 'plan', { file, options })).toEqual(JSON.parse(printed.stdout));
  expect(await refusal(agent, 'plan', { file: 'missing.csv' })).toEqual(typed('export.missing'));
  expect(await refusal(agent, 'plan', { file, options: { pilot: 'all' } })).toEqual(typed('usage'));
  for (const other of [{ file: '-' }, { file: 'query:select 1' }, { file, options: { query: 'select 1' } }])
    expect(await refusal(agent, 'plan', other)).toContain('Invalid arguments for tool plan');
});

it('the tool run makes no call if the plan hash or max_credits is wrong, or if the file has changed', async () => {
  const agent = await openAgent();
  const run = await approved(agent, system.sample(12));
  const wrong = async (change: object) => refusal(agent, 'run', { ...run, ...change });
  expect(await wrong({ plan_hash: undefined })).toContain('at plan_hash');
  expect(await wrong({ max_credits: undefined })).toContain('at max_credits');
  expect(await wrong({ max_credits: run.max_credits - 1 })).toEqual(typed('plan.above-maximum'));
  expect(await wrong({ plan_hash: '0123456789abcdef' })).toEqual(typed('plan.not-shown'));
  expect(await refusal(await openAgent(), 'run', run)).toEqual(typed('plan.not-shown'));
  expect(await wrong({ file: 'missing.csv' })).toEqual(typed('export.missing'));
  expect(await wrong({ options: { reveal: 'phone' } })).toEqual(typed('plan.changed'));
  appendFileSync(run.file, '400999,Mira,Nordlys,mira@nordlys.example,,,,,,,,,,,\r\n');
  expect(await wrong({})).toEqual(typed('plan.changed'));
  expect((await system.hereAlone(['status', '--json'])).stdout).toBe('[]\n');
  expect(system.sandbox.log.bill()).toMatchObject({ calls: 0, credits: '0' });
});

it('a run that the tool run began pauses when the MCP server ends; a repeated call continues the run', async () => {
  const first = await system.agent({ RATE_LIMITS: '1/2s' });
  const run = await approved(first, system.sample(40));
  const { run_id: runId } = await use<RunFacts>(first, 'run', run);
  await expect.poll(() => system.sandbox.log.bill().calls, { interval: 50 }).toBeGreaterThan(0);
  await first.close();
  const agent = await openAgent();
  const status = () => use<RunFacts>(agent, 'status', { run: runId });
  const next = expect.stringContaining('enrich resume') as string;
  expect(await status()).toMatchObject({ status: 'paused', reason_type: 'run.interrupted', next });
  const otherGate = { ...run, options: { 'min-match-rate': '90%' } };
  expect(await refusal(agent, 'run', otherGate)).toEqual(typed('plan.changed'));
  expect((await use<RunFacts>(agent, 'run', run)).run_id).toBe(runId);
  await expect.poll(async () => (await status()).status).toBe('finished');
  const { credits } = system.sandbox.log.bill();
  expect((await status()).credits).toEqual({ settled: credits, reserved: '0', unknown: '0' });
  expect(Number(credits)).toBeLessThanOrEqual(run.max_credits);
  const report = await use<{ run: object }>(agent, 'report', { run: runId });
  expect(report).toMatchObject({ run: { run_id: runId, plan_hash: run.plan_hash } });
  const people = await system.warehouse.query<{ email: string }>`
    select email from run_rows where run_id = ${runId} and email is not null`;
  expect(people.filter(({ email }) => JSON.stringify(report).includes(email))).toEqual([]);
  // All people are fresh after the run, so the earlier plan is no longer possible.
  expect(await refusal(agent, 'run', run)).toEqual(typed('plan.not-shown'));
  await expectPromisesKept(system);
});

it('the tool sql reads with the analyst role, writes nothing, and refuses any other role', async () => {
  const role = `reads_${randomBytes(4).toString('hex')}`;
  await system.warehouse.pool.query(`create role ${role} login password 'reads'`);
  const address = new URL(system.databaseUrl);
  expect(await refusal(await openAgent(), 'sql', { statement: 'select 1' })).toEqual(
    typed('setting.missing'),
  );
  const owner = await openAgent({ ANALYST_DATABASE_URL: address.href });
  expect(await refusal(owner, 'sql', { statement: 'select 1' })).toEqual(typed('role.no-analyst'));
  Object.assign(address, { username: role, password: 'reads' });
  await system.hereAlone(['migrate', '--analyst-role', role]);
  const agent = await openAgent({ ANALYST_DATABASE_URL: address.href });
  const statement = 'select contact_id, title from enriched_contacts order by contact_id';
  const rows = await system.warehouse.query`
    select contact_id, title from enriched_contacts order by contact_id limit 2`;
  expect(await use(agent, 'sql', { statement, limit: 2 })).toEqual({ rows, has_more: true });
  for (const refused of [
    `update enriched_contacts set title = 'x'`,
    'select raw from run_rows',
    `select set_config('role', 'none', true), query_to_xml('select raw from run_rows', true, false, '')`,
    'commit; begin read write; create table written ()',
    `copy (select 1) to program 'true'`,
  ])
    expect(await refusal(agent, 'sql', { statement: refused })).toEqual(typed('sql.refused'));
  // The product creates the analyst role of an embedded PostgreSQL itself.
  const embedded = await openAgent({ DATABASE_URL: '' });
  await use(embedded, 'plan', { file: system.sample(1) });
  const user = await use(embedded, 'sql', { statement: 'select current_user as name' });
  expect(user).toEqual({ rows: [{ name: 'enrich_analyst' }], has_more: false });
});
