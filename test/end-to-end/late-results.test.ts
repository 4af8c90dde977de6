import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { sweepScheduleId } from '../../src/contract/temporal-names.ts';
import type { DeliveryRule } from '../../src/sandbox/faults.ts';
import { TestSystem } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

/** Milliseconds by which the clock of the sandbox is ahead of the clock of this process. */
let clockAhead = 0;
const waterfall = ['--waterfall', 'email,phone', '--max-credits-per-person', '20'];
const deadline = { LATE_RESULTS_DEADLINE: '20s' };
/** Settings with which each webhook arrives before a poll, also on a busy machine. */
const lastPolls = { LATE_RESULTS_POLL_AFTER: '10m' };
const earlyPolls = { LATE_RESULTS_POLL_AFTER: '2s' };

const system = await TestSystem.ofFile({ latency: 20, lateDelay: 600, now: () => Date.now() + clockAhead });

const { warehouse } = system;

beforeEach(() => system.sandbox.faults.set({}));

async function reveal(
  file: string,
  options: readonly string[] = ['--reveal', 'phone'],
  settings: Record<string, string> = {},
): Promise<RunFacts> {
  const ended = await system.here(['run', file, '--yes', '--json', ...options], { ...deadline, ...settings });
  return ended.facts();
}

/** Limits each rule to one late result: the first rule to the first result, and so on. */
function eachOnce(ways: readonly DeliveryRule[]): DeliveryRule[] {
  return ways.map((way, index) => ({ ...way, from: index + 1, to: index + 1 }));
}

/** Expects that the sandbox has used every rule, because an unused rule would prove nothing. */
function expectAllUsed(deliveries: readonly DeliveryRule[]): void {
  const used = new Set(system.sandbox.log.lateResults().map(({ rule }) => rule));
  expect(deliveries.filter((rule) => !used.has(rule))).toEqual([]);
}

async function phonesOf(runId: string): Promise<number> {
  const counted = await warehouse.query<{ phones: number }>`
    select count(phone)::int as phones from enriched_contacts where run_id = ${runId}`;
  return counted[0]!.phones;
}

/** Counts the deliveries of a run by status. */
async function inbox(runId: string): Promise<Record<string, number>> {
  const counted = await warehouse.query<{ status: string; count: number }>`
    select status, count(*)::int as count from webhook_deliveries where run_id = ${runId} group by 1`;
  return Object.fromEntries(counted.map(({ status, count }) => [status, count]));
}

/** Starts the sweep at once: workers apply late results of ended runs, and poll for all awaited ones. */
async function sweep(): Promise<void> {
  await warehouse.query`update attempts set next_poll_at = clock_timestamp() where next_poll_at is not null`;
  await (await system.temporal()).schedule.getHandle(sweepScheduleId).trigger();
}

it('calls with phones and waterfall results are settled for the sum of the prices in their webhooks', async () => {
  await system.startWorker(lastPolls);
  const deliveries = eachOnce([
    { kind: 'waterfall', copies: 2 },
    { kind: 'waterfall', split: true, jitter: 1_500 },
  ]);
  system.sandbox.faults.set({ deliveries });
  const facts = await reveal(system.sample(40), ['--reveal', 'phone', ...waterfall]);
  expectAllUsed(deliveries);
  expect(facts).toMatchObject({
    status: 'finished',
    credits: { reserved: '0', unknown: '0' },
    late_results: { awaited: 0, expired: 0 },
  });
  expect(facts.late_results.arrived).toBe(system.sandbox.log.lateResults().length);
  expect(await phonesOf(facts.run_id)).toBeGreaterThan(10);
  await expectPromisesKept(system);
});

it('a second pass uses the waterfall for people not found by the first; a third pass makes no call', async () => {
  await system.startWorker(lastPolls);
  const first = await reveal(system.sample(100), ['--source', 'second-pass']);
  const guide = readFileSync(new URL('../../docs/guides/second-pass.md', import.meta.url), 'utf8');
  const statement = /```sql\n([^`]+)```/.exec(guide)![1]!.replace("'hubspot'", "'second-pass'");
  const file = join(system.directory, 'not-found.csv');
  writeFileSync(file, (await system.here(['sql', '--csv', '-c', statement])).stdout);
  const pass = ['--source', 'second-pass', '--waterfall', 'email', '--max-credits-per-person', '4'];
  const second = await reveal(file, [...pass, '--max-credits', '60']);
  expect(first.outcomes.not_found).toBeGreaterThan(0);
  expect(second).toMatchObject({ status: 'finished', rows: first.outcomes.not_found });
  expect(second.calls).toBeGreaterThan(0);
  expect(Number(second.credits.settled)).toBeLessThanOrEqual(60);
  expect(await reveal(file, [...pass, '--max-credits', '60'])).toMatchObject({ calls: 0 });
  await expectPromisesKept(system);
});

it('the sweep applies a late result that arrives after the end of its run, and marks the result late', async () => {
  await system.startWorker(lastPolls);
  const hour = 3_600_000;
  system.sandbox.faults.set({ deliveries: [{ never: true, delay: hour }] });
  const facts = await reveal(system.sample(20), ['--reveal', 'phone'], {
    LATE_RESULTS_DEADLINE: '1s',
  });
  expect(facts.status).toBe('finished');
  expect(facts.late_results.expired).toBeGreaterThan(0);
  expect(facts.late_results.missing).toMatch(
    /^the late results of \d+ calls? did not come before the deadline/,
  );
  expect(Number(facts.credits.reserved)).toBeGreaterThan(0);
  const list = ['attempts', 'list', facts.run_id, '--status', 'overdue'];
  const overdue = await system.here([...list, '--json']);
  expect(JSON.parse(overdue.stdout)).toHaveLength(facts.late_results.expired);
  expect((await system.here(list)).stderr).toContain('next: enrich attempts settle ATTEMPT --credits N');
  clockAhead = hour;
  await sweep();
  await expect.poll(async () => (await system.here(list)).stdout).toContain('no calls of the status overdue');
  const after = JSON.parse((await system.here(['status', facts.run_id, '--json'])).stdout) as RunFacts;
  expect(after).toMatchObject({ credits: { reserved: '0', unknown: '0' }, late_results: { expired: 0 } });
  expect(after.late_results.late).toBe(after.late_results.arrived);
  await expectPromisesKept(system);
});

it('phones are polled by the exact request id if no webhook is configured', async () => {
  await system.startWorker(earlyPolls);
  system.sandbox.faults.set({ deliveries: [{ never: true }] });
  const facts = await reveal(system.sample(40));
  expect(facts).toMatchObject({ status: 'finished', credits: { reserved: '0', unknown: '0' } });
  expect(await phonesOf(facts.run_id)).toBeGreaterThan(5);
  const polls = system.sandbox.log.calls().filter(({ path }) => path === '/webhook_result');
  const polled = new Set(polls.map(({ requestId }) => requestId));
  const asked = await warehouse.query<{ request_id: string }>`
    select request_id from attempts where run_id = ${facts.run_id} and found_ids <> '{}'`;
  expect(asked.every(({ request_id: id }) => polled.has(id))).toBe(true);
  expect(asked.some(({ request_id: id }) => !Number.isSafeInteger(Number(id)))).toBe(true);
  await expectPromisesKept(system);
});

it('if the answer of a call is lost, its phones are paid once and fill the contacts in the next run', async () => {
  await system.startWorker(earlyPolls);
  system.sandbox.faults.set({ rules: [{ path: '/people/bulk_match', from: 1, to: 1, answer: 'reset' }] });
  const before = Number(system.sandbox.log.bill().credits);
  const file = system.sample(10);
  const facts = await reveal(file);
  expect(facts.outcomes.unknown).toBeGreaterThan(5);
  // The run has ended, so only a sweep after the delivery applies it.
  await expect.poll(() => inbox(facts.run_id)).not.toEqual({});
  await sweep();
  await expect.poll(() => inbox(facts.run_id), { timeout: 20_000 }).toEqual({ applied: 1 });
  const billed = Number(system.sandbox.log.bill().credits) - before;
  const [call] = await warehouse.query<{ attempt_id: string }>`
    select attempt_id from attempts where run_id = ${facts.run_id}`;
  const attempt = ['attempts', 'release', call!.attempt_id, '--yes'];
  expect(await system.here(attempt)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`to ${facts.credits.unknown} credits`),
  });
  await system.here(['attempts', 'settle', call!.attempt_id, '--credits', String(billed), '--yes']);
  const again = await reveal(file);
  // The second run pays at most one credit for each of ten people, and nothing for phones.
  expect(Number(again.credits.settled)).toBeLessThanOrEqual(10);
  expect(await phonesOf(again.run_id)).toBeGreaterThan(0);
  const settled = await warehouse.query<{ credits: number }>`
    select sum(credits_settled)::float8 as credits
    from attempts where run_id = any(${[facts.run_id, again.run_id]})`;
  expect(settled[0]!.credits).toBe(Number(system.sandbox.log.bill().credits) - before);
});
