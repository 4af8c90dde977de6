import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunFacts } from '../../src/contract/run-facts.ts';
import { TestSystem, type RunningCommand } from '../helpers/system/test-system.ts';
import { freePort } from '../helpers/servers/ports.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';

/**
 * These tests run a server as it is deployed. Each receiver is a process of its own, and so is a worker that a signal
 * ends or whose output is read. Other workers run in this process, because a process takes three times the processor
 * time.
 */

const system = await TestSystem.ofFile({ latency: 20, lateDelay: 1_000, temporalOnDisk: true });
const port = await freePort();
const server = {
  ...system.sharedTemporal(),
  WEBHOOK_LISTEN: `127.0.0.1:${port}`,
  WEBHOOK_PUBLIC_URL: `http://127.0.0.1:${port}`,
  LATE_RESULTS_POLL_AFTER: '15s',
  LATE_RESULTS_DEADLINE: '120s',
};
const often = { interval: 20 };

beforeEach(() => system.sandbox.faults.set({}));

// A failed test must leave no receiver and no worker that would act in the next test.
afterEach(async () => {
  isKept = false;
  await endAll();
  await system.stopWorker();
});

const begun: RunningCommand[] = [];
/** True while `keepReceiving` starts a new receiver after each one that ended. */
let isKept = false;

function begin(parameters: readonly string[], more: Record<string, string> = {}): RunningCommand {
  const process = system.begin(parameters, { ...server, ...more });
  begun.push(process);
  return process;
}

async function endAll(): Promise<void> {
  for (const process of begun.splice(0)) {
    process.kill('SIGTERM');
    await process.ended;
  }
}

async function reveal(file: string, settings: Record<string, string> = {}): Promise<RunFacts> {
  const command = ['run', file, '--yes', '--json', '--reveal', 'phone'];
  return (await system.here(command, { ...server, ...settings })).facts();
}

/**
 * Starts a new receiver each time that the receiver ends, as the supervisor of a server does.
 *
 * @param points where receivers are killed, one after another, until one was killed at each point
 * @returns the points that are left, and a promise for the end of the last receiver
 */
function keepReceiving(points: readonly string[]): {
  readonly left: Set<string>;
  readonly ended: Promise<void>;
} {
  const left = new Set(points);
  const receive = async (): Promise<void> => {
    isKept = true;
    while (isKept) {
      const [point] = left;
      const code = await begin(['receiver'], point === undefined ? {} : { ENRICH_KILL_AT: point }).ended;
      if (code === null) left.delete(point!);
    }
  };
  return { left, ended: receive() };
}

/**
 * True if every row of the run that began after `moment` has its outcome. The database also has the runs of earlier
 * tests.
 */
async function hasAskedForAll(moment: Date): Promise<boolean> {
  const rows = await system.warehouse.query<{ open: number; rows: number }>`
    select count(*) filter (where outcome is null)::int as open, count(*)::int as rows
    from enrichment.run_rows join enrichment.runs using (run_id)
    where runs.created_at > ${moment}`;
  return rows[0]!.rows > 0 && rows[0]!.open === 0;
}

/** Deliveries of calls after the first `calls` ones, because deliveries of earlier tests are still repeated. */
function deliveriesOfCallsAfter(calls: number): readonly { readonly status: number }[] {
  const requestIds = new Set(system.sandbox.log.calls(calls).map(({ requestId }) => requestId));
  return system.sandbox.log.deliveries().filter(({ requestId }) => requestIds.has(requestId));
}

it('a receiver that is killed repeatedly loses no accepted delivery, and each takes effect once', async () => {
  await system.startWorker(server);
  const { left, ended } = keepReceiving(['delivery-arrived:2', 'delivery-stored:2', 'delivery-answered:2']);
  // All deliveries can be stored before a receiver was killed at each point, for example on a slow machine. Then
  // another run follows.
  do
    expect(await reveal(system.sample(60))).toMatchObject({
      status: 'finished',
      credits: { reserved: '0', unknown: '0' },
      late_results: { awaited: 0, expired: 0 },
    });
  while (left.size > 0);
  isKept = false;
  await endAll();
  await ended;
  await expectPromisesKept(system);
});

it('two deliveries are applied once each although the worker is killed between them', async () => {
  const worker = begin(['worker'], { ENRICH_KILL_AT: 'delivery-applied:2', ENRICH_HEARTBEAT_SECONDS: '3' });
  const beganAt = new Date();
  const running = reveal(system.sample(40), { ENRICH_HEARTBEAT_SECONDS: '3' });
  // Deliveries arrive only after all calls have ended: the kill would make a call in flight unknown.
  await expect.poll(() => hasAskedForAll(beganAt)).toBe(true);
  begin(['receiver']);
  await worker.ended;
  await system.startWorker(server);
  expect(await running).toMatchObject({ status: 'finished', credits: { reserved: '0', unknown: '0' } });
  await endAll();
  await expectPromisesKept(system);
});

it('SIGTERM under load ends receiver and worker without a lost delivery or a call of unknown cost', async () => {
  system.sandbox.faults.set({ deliveries: [{ copies: 3 }] });
  const begunAt = new Date();
  begin(['receiver']);
  const worker = begin(['worker']);
  const earlier = system.sandbox.log.bill().calls;
  const running = reveal(system.sample(60));
  await expect.poll(() => deliveriesOfCallsAfter(earlier).length, often).toBeGreaterThan(10);
  const receiver = begun[0]!;
  receiver.kill('SIGTERM');
  worker.kill('SIGTERM');
  await Promise.all([receiver.ended, worker.ended]);
  const cutOff = await system.warehouse.query`
    select 1 from enrichment.attempts where status in ('unknown', 'admitted') and admitted_at > ${begunAt}`;
  expect(cutOff).toEqual([]);
  begin(['receiver']);
  await system.startWorker(server);
  expect(await running).toMatchObject({ status: 'finished', credits: { reserved: '0', unknown: '0' } });
  await endAll();
  await expectPromisesKept(system);
});

it('the receiver accepts deliveries while Temporal is stopped, and the run continues afterwards', async () => {
  begin(['receiver']);
  await system.startWorker(server);
  const earlier = system.sandbox.log.bill().calls;
  const running = reveal(system.sample(60));
  await expect.poll(() => deliveriesOfCallsAfter(earlier).length, often).toBeGreaterThan(0);
  system.signalTemporal('SIGSTOP');
  const before = deliveriesOfCallsAfter(earlier).length;
  await expect.poll(() => deliveriesOfCallsAfter(earlier).length, often).toBeGreaterThan(before + 2);
  const during = deliveriesOfCallsAfter(earlier).slice(before);
  system.signalTemporal('SIGCONT');
  expect(during.every(({ status }) => status === 200)).toBe(true);
  expect(await running).toMatchObject({ status: 'finished', credits: { reserved: '0', unknown: '0' } });
  await endAll();
  await expectPromisesKept(system);
});

/** Parts of each person's data that no other text contains. A search for every cell would take seconds. */
const canaries = ['uirinalda', 'wetsch', 'anarywerk'];

function canaryExport(): string {
  const people = Array.from({ length: 40 }, (_, number) => [
    `Quirinalda${number}q`,
    `Zwetschgenbaum${number}z`,
    `q.zwetsch${number}@canarywerk${number}.example`,
    `Canarywerk${number} Betriebe`,
    `https://www.linkedin.com/in/quirinalda-${number}q`,
  ]);
  const file = join(system.directory, 'canaries.csv');
  const header = 'First Name,Last Name,Email,Company Name,LinkedIn URL';
  writeFileSync(file, [header, ...people.map((cells) => cells.join(','))].join('\n'));
  return file;
}

it('no key, token, e-mail, name or phone number reaches logs, errors, metrics or Temporal', async () => {
  const file = canaryExport();
  // Failures write more logs and errors than successes, so the sandbox causes some.
  system.sandbox.faults.set({
    rules: [
      { containing: 'Zwetschgenbaum7z', status: 422 },
      { path: '/people/bulk_match', from: 3, to: 3, answer: 'html' },
    ],
    deliveries: [{ share: 0.3, body: 'cut' }],
  });
  const ports = [await freePort(), await freePort()];
  const loud = { LOG_LEVEL: 'trace', LATE_RESULTS_POLL_AFTER: '2s', LATE_RESULTS_DEADLINE: '8s' };
  const [receiver, worker] = ['receiver', 'worker'].map((name, index) =>
    begin([name], { ...loud, METRICS_LISTEN: `127.0.0.1:${ports[index]}` }),
  );
  const parameters = ['run', file, '--yes', '--json', '--reveal', 'phone'];
  const ended = await system.here(parameters, { ...server, ...loud });
  const metrics = await Promise.all(
    ports.map(async (each) => (await fetch(`http://127.0.0.1:${each}/metrics`)).text()),
  );
  await endAll();
  const contacts = await system.warehouse.query<Record<string, string | null>>`
    select email, phone, person_id
    from enrichment.enriched_contacts where run_id = ${ended.facts().run_id}`;
  const phones = await system.warehouse.query<{ number: string }>`
    select number from enrichment.person_phones`;
  const secrets = [
    'sandbox-key',
    ...canaries,
    ...system.sandbox.log.lateResults().map(({ url }) => url.split('/').at(-1)!),
    ...contacts.flatMap(({ email, phone }) => [email, phone]).filter((text) => typeof text === 'string'),
    ...phones.map(({ number }) => number),
  ];
  expect(phones.length).toBeGreaterThan(5);
  expect(metrics.join('')).toContain('enrich_');
  const logs = [receiver!, worker!].map((process) => process.output());
  const written = [ended.stdout, ended.stderr, ...logs, ...metrics, ...system.temporalFiles()];
  const isWritten = (secret: string): boolean => written.some((text) => text.includes(secret));
  expect([...new Set(secrets)].filter(isWritten)).toEqual([]);
  await expectPromisesKept(system);
});
