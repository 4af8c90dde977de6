import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ScheduledRuns } from '../../../src/contract/run-input.ts';
import { UsageProblem } from '../../../src/domain/problem.ts';
import { notifiedEvents, type NotifiedEvent } from '../../../src/domain/runs/notified-event.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import {
  commandChannel,
  signatureOf,
  urlChannel,
  type Channel,
} from '../../../src/monitoring/notification-channels.ts';
import { Notifier } from '../../../src/monitoring/notifications.ts';
import { notifyOnFailure } from '../../../src/monitoring/notifications.ts';
import { notification } from '../../../src/outputs/outputs.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { listenHere } from '../../helpers/servers/ports.ts';
import { runningRun, stagedRun, noSignal } from '../../helpers/warehouse/rows.ts';
import { admit } from '../../helpers/warehouse/admit.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

interface Posted {
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

const pauseReason = { type: 'service.unauthorized', reason: 'the key is refused', next: 'enrich resume RUN' };
const warehouse = await warehouseOfFile({ connections: 4 });
let status = 200;
let posted: Posted[] = [];

const server = createServer((request, response) => {
  void text(request).then((body) => {
    posted.push({ body, headers: request.headers });
    return response.writeHead(status).end();
  });
});
const port = await listenHere(server);

beforeEach(() => {
  status = 200;
  posted = [];
});

afterEach(() => warehouse.query`delete from notifications`);

afterAll(() => void server.close());

const url = `http://127.0.0.1:${port}/`;
const notifier = (channels: Channel[], events: readonly NotifiedEvent[] = notifiedEvents) =>
  new Notifier({
    warehouse,
    channels,
    events,
    withNames: false,
    log: createLogger({ level: 'silent', format: 'json' }),
  });
/** The posted notifications; each has to fit its schema, which allows no unknown field. */
const posts = () =>
  posted.map(({ body }) => {
    const message = JSON.parse(body) as Record<string, unknown>;
    notification.parse(message);
    return message;
  });
const makeDue = () => warehouse.query`update notifications set next_try_at = now() where closed_at is null`;
const rows = () =>
  warehouse.query<{ failure: string | null; closed: boolean; told: string[]; tries: number }>`
      select failure, closed_at is not null as closed, told, tries
      from notifications order by notification_id`;

it('a pause is notified once with its reason, although the run has continued before the notification', async () => {
  const runId = await runningRun(warehouse);
  await setRunStatus(warehouse, runId, 'paused', pauseReason);
  await setRunStatus(warehouse, runId, 'paused', pauseReason);
  await setRunStatus(warehouse, runId, 'running', undefined);
  await notifier([urlChannel(url, undefined)]).sendDue();
  await notifier([urlChannel(url, undefined)]).sendDue();
  const { type: reason_type, reason, next } = pauseReason;
  const paused = { event: 'paused', run_id: runId, status: 'paused', reason_type, reason, next, calls: 0 };
  expect(posts()).toMatchObject([paused]);
});

it('no notification is sent for events that are not configured, for plans, or after more than a day', async () => {
  const failed = await stagedRun(warehouse, []);
  await setRunStatus(warehouse, failed.runId, 'failed', pauseReason);
  const old = await stagedRun(warehouse, []);
  await endRun(warehouse, old.runId, 'finished', undefined);
  await warehouse.query`
    update notifications set occurred_at = now() - interval '25 hours' where run_id = ${old.runId}`;
  const plan = await stagedRun(warehouse, []);
  await warehouse.query`update runs set run_key = 'plan x' where run_id = ${plan.runId}`;
  await setRunStatus(warehouse, plan.runId, 'failed', pauseReason);
  await notifier([urlChannel(url, undefined)], ['finished', 'paused']).sendDue();
  expect(posts()).toEqual([]);
});

it('a notification removes e-mails from the file name of the export', async () => {
  const run = await stagedRun(warehouse, []);
  await warehouse.query`update runs set file_name = 'ada@example.com.csv' where run_id = ${run.runId}`;
  await endRun(warehouse, run.runId, 'finished', undefined);
  await notifier([urlChannel(url, undefined)]).sendDue();
  expect(posted[0]!.body).not.toContain('ada@');
});

it('a budget that reaches 80 % is notified with its limit and its used credits', async () => {
  const runId = await runningRun(warehouse, '10');
  const asked = { runId, rowNumbers: [1, 2, 3, 4, 5, 6, 7, 8], deadlineSeconds: 60 };
  await admit(warehouse.database, asked, { budgets: { alarmsAt: [80] } });
  await notifier([urlChannel(url, undefined)]).sendDue();
  expect(posts()).toMatchObject([
    { event: 'budget', budget: `run:${runId}`, percent: 80, limit: '10', used: '8' },
  ]);
});

const time = { schedule: 'nightly', asOf: '2026-11-21T03:00:00.000Z' };
const begin = (work: () => Promise<ScheduledRuns>) => notifyOnFailure(warehouse, time, work);

it('a scheduled run without an export is notified once as failed, with the next step', async () => {
  const missing = new UsageProblem('export.missing', 'there is no such file', {
    where: '/exports/ada@example.com.csv',
    next: 'check the path',
  });
  for (let tries = 0; tries < 2; tries += 1)
    await expect(begin(() => Promise.reject(missing))).rejects.toBe(missing);
  await notifier([urlChannel(url, undefined)], ['failed']).sendDue();
  expect(posts()).toEqual([
    {
      event: 'failed',
      event_id: expect.any(String) as string,
      occurred_at: expect.any(String) as string,
      schedule: 'nightly',
      scheduled_at: time.asOf,
      reason: 'there is no such file ([email])',
      next: 'check the path; then: enrich schedule trigger nightly begins a run now',
    },
  ]);
});

it('a notification to a URL has a signature of its body in a header', async () => {
  await setRunStatus(warehouse, await runningRun(warehouse), 'paused', pauseReason);
  await notifier([urlChannel(url, 'a secret')]).sendDue();
  const { body, headers } = posted[0]!;
  expect(headers['x-enrich-signature']).toBe(signatureOf(body, 'a secret'));
  expect(headers['content-type']).toBe('application/json');
});

it('a notification to a failing URL is tried ten times, with a pause before each try', async () => {
  status = 500;
  await setRunStatus(warehouse, await runningRun(warehouse), 'paused', pauseReason);
  for (let tries = 0; tries < 12; tries += 1) {
    const sender = notifier([urlChannel(`${url}hooks/s3cret`, undefined)]);
    await sender.sendDue();
    await sender.sendDue();
    await makeDue();
  }
  expect(posted).toHaveLength(10);
  expect(await rows()).toEqual([{ failure: 'url: HTTP 500', closed: true, told: [], tries: 10 }]);
});

it('a notification command gets no settings and no credentials of the product', async () => {
  const file = join(temporaryFolder(), 'environment');
  const secrets = [
    'ENRICHMENT_API_KEY',
    'ENRICHMENT_ACCESS_TOKEN',
    'DATABASE_URL',
    'NOTIFY_SECRET',
    'PGPASSWORD',
    'WAREHOUSE_PASSWORD',
    'TEMPORAL_API_KEY',
    'AWS_SECRET_ACCESS_KEY',
    'OTEL_EXPORTER_OTLP_HEADERS',
  ];
  for (const name of secrets) vi.stubEnv(name, 'canary');
  vi.stubEnv('CHAT_ROOM', 'on-call');
  await commandChannel(`env > '${file}'`).send('{}', noSignal);
  vi.unstubAllEnvs();
  const given = readFileSync(file, 'utf8');
  expect(given).not.toContain('canary');
  expect(given).toMatch(/^CHAT_ROOM=on-call$/m);
  expect(given).toMatch(/^PATH=/m);
});
