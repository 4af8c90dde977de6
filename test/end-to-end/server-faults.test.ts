import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { startEmbeddedPostgres } from '../../src/dev/postgres.ts';
import { runningRecord, stopServer } from '../../src/dev/server.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { openWarehouse } from '../../src/db/database.ts';
import { TestSystem, type RunningCommand } from '../helpers/system/test-system.ts';
import { expectPromisesKept } from '../helpers/system/promises.ts';
import { expectRebuildEqual } from '../helpers/database/contents.ts';
import { testWarehouse } from '../helpers/database/test-warehouse.ts';

/** Tests in which Temporal or PostgreSQL is killed while a worker needs the server. */
const system = await TestSystem.ofFile({ latency: 400, temporalOnDisk: true });
let begun: RunningCommand[] = [];

afterEach(async () => {
  for (const process of begun) process.kill('SIGTERM');
  await Promise.all(begun.map((process) => process.ended));
  begun = [];
  await system.stopWorker();
});

function begin(parameters: readonly string[], settings: Record<string, string>): RunningCommand {
  const process = system.begin(parameters, settings);
  begun.push(process);
  return process;
}

/** Waits until the service has received more than this number of additional calls. */
async function untilCalls(calls: number, sandbox = system.sandbox): Promise<void> {
  const before = sandbox.log.calls().length;
  await expect.poll(() => sandbox.log.calls().length).toBeGreaterThan(before + calls);
}

it('after kills of Temporal and of PostgreSQL, a run continues and pays for no person twice', async () => {
  // This test has a sandbox of its own, because a bill is compared with one database.
  const sandbox = await startSandbox({ latency: 400, rateLimits: 'unlimited' });
  onTestFinished(() => sandbox.close());
  const directory = join(system.directory, 'postgres');
  const postgres = await startEmbeddedPostgres({ directory });
  const warehouse = testWarehouse(openWarehouse(postgres.databaseUrl, { connections: 2 }));
  // This rate limit leaves calls to make after each kill.
  const limit = '5/2s';
  const settings = {
    ...system.sharedTemporal(),
    DATABASE_URL: postgres.databaseUrl,
    ENRICHMENT_BASE_URL: sandbox.baseUrl,
    RATE_LIMITS: limit,
  };
  const worker = begin(['worker'], settings);
  const running = system.here(['run', system.sample(150), '--yes', '--json'], settings);
  await untilCalls(3, sandbox);
  await system.restartTemporal();
  await untilCalls(2, sandbox);
  expect(await warehouse.query`select from attempts where status = 'unknown'`).toEqual([]);
  process.kill(postgres.pid, 'SIGKILL');
  await expect.poll(() => runningRecord(directory)).toBeUndefined();
  await startEmbeddedPostgres({ directory });
  expect((await running).facts()).toMatchObject({ status: 'finished' });
  expect(sandbox.log.bill().billedAgain).toEqual({});
  await expectPromisesKept({ warehouse, sandbox }, limit);
  await expectRebuildEqual(warehouse);
  await warehouse.close();
  // A worker with an unreachable database waits for the database.
  worker.kill('SIGTERM');
  expect(await worker.ended).toBe(0);
  await stopServer(directory);
});

it('a command whose embedded Temporal is killed ends, and the same command continues its run', async () => {
  const settings = { RATE_LIMITS: '5/2s', CALL_TIMEOUT: '5s', ENRICH_HEARTBEAT_SECONDS: '3' };
  const command = ['run', system.sample(100), '--yes', '--json'];
  const running = begin(command, settings);
  await untilCalls(3);
  system.signalTemporal('SIGKILL');
  const killedAt = performance.now();
  expect(await running.ended).toBe(1);
  expect(performance.now() - killedAt).toBeLessThan(30_000);
  const { error } = JSON.parse(running.output().trimEnd().split('\n').at(-1)!) as { error: object };
  expect(error).toMatchObject({
    type: 'server.lost',
    message: 'the Temporal dev server ended',
    next: expect.stringContaining('run the same command again'),
  });
  expect((await system.hereAlone(command, settings)).facts().status).toBe('finished');
  expect(system.sandbox.log.bill().billedAgain).toEqual({});
  await expectPromisesKept(system);
});
