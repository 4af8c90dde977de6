import { Worker } from '@temporalio/worker';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { readConfig } from '../../../src/config/settings.ts';
import { callTaskQueues } from '../../../src/contract/temporal-names.ts';
import { openWarehouse } from '../../../src/db/database.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { connectWorker } from '../../../src/temporal/connection.ts';
import { payloadCodec } from '../../../src/temporal/payload-codec.ts';
import { startWorker, type RunningWorker } from '../../../src/worker.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';
import { startTestTemporal } from '../../helpers/temporal/temporal.ts';

const temporal = await startTestTemporal();
const databaseUrl = await createTestDatabase();
const warehouse = openWarehouse(databaseUrl, { connections: 1 });

afterAll(async () => {
  await temporal.stop();
  await warehouse.close();
});

beforeEach(() => void vi.restoreAllMocks());

async function start(): Promise<{ started: Promise<RunningWorker>; close: () => Promise<void> }> {
  const { address, namespace } = temporal;
  const connection = await connectWorker({ address, namespace, uiUrl: undefined, embedded: true });
  const started = startWorker({
    config: readConfig({}),
    databaseUrl: databaseUrl,
    service: { baseUrl: 'http://127.0.0.1:1/api/v1', credential: { kind: 'api-key', value: 'key-1' } },
    temporal: { connection, namespace, codec: payloadCodec(undefined), version: undefined },
    webhookUrl: undefined,
    metrics: undefined,
    tracing: undefined,
    lineage: undefined,
    log: createLogger({ level: 'silent', format: 'json' }),
  });
  return { started, close: () => connection.close() };
}

async function connectionsOfWorker(): Promise<number> {
  const { rows } = await warehouse.pool.query<{ count: number }>(
    `select count(*)::int as count
     from pg_stat_activity
     where datname = current_database() and application_name = 'enrich worker'`,
  );
  return rows[0]!.count;
}

it('startWorker() fails and leaves nothing open if one of its workers cannot be created', async () => {
  const create = Worker.create.bind(Worker);
  vi.spyOn(Worker, 'create').mockImplementation((options) =>
    options.taskQueue === callTaskQueues.backfill
      ? Promise.reject(new Error('the server is busy'))
      : create(options),
  );
  const { started, close } = await start();
  await expect(started).rejects.toMatchObject({
    type: 'worker.not-started',
    message: 'the worker cannot start: the server is busy',
  });
  // The SDK refuses to close a connection that a worker still holds.
  await close();
  await expect.poll(connectionsOfWorker).toBe(0);
});

it('if one Temporal worker of a process fails, the others stop before the failure is reported', async () => {
  const created: Worker[] = [];
  const create = Worker.create.bind(Worker);
  vi.spyOn(Worker, 'create').mockImplementation(async (options) => {
    const worker = await create(options);
    created.push(worker);
    if (options.taskQueue !== callTaskQueues.backfill) return worker;
    const run = worker.run.bind(worker);
    vi.spyOn(worker, 'run').mockImplementation(async () => {
      const running = run();
      worker.shutdown();
      await running;
      throw new Error('lost');
    });
    return worker;
  });
  const { started, close } = await start();
  const { ended } = await started;
  await expect(ended).rejects.toMatchObject({ type: 'worker.failed', message: 'the worker failed: lost' });
  expect(created.map((worker) => worker.getState())).toEqual(created.map(() => 'STOPPED'));
  await close();
  await expect.poll(connectionsOfWorker).toBe(0);
});
