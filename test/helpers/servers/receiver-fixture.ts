import { afterAll, afterEach } from 'vitest';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { fetch, type Agent } from 'undici';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import { describeError } from '../../../src/telemetry/log.ts';
import { openWarehouse } from '../../../src/db/database.ts';
import { startReceiver, webhookPath } from '../../../src/late-results/receiver.ts';
import { createTestDatabase } from '../database/database.ts';
import { runningRun } from '../warehouse/rows.ts';
import { admit } from '../warehouse/admit.ts';
import { testWarehouse, type TestWarehouse } from '../database/test-warehouse.ts';

interface InboxRow {
  readonly attempt_id: string;
  readonly run_id: string;
  readonly status: string;
  readonly body: Buffer;
  readonly body_sha256: Buffer;
}

export type TestReceiver = Awaited<ReturnType<typeof startTestReceiver>>;
export type RawConnection = ReturnType<typeof openConnection>;

/**
 * Opens the fixture at the top of a test file, tidies the fixture after each test, and closes it after the last test.
 */
export async function receiverFixtureOfFile() {
  const fixture = await openReceiverFixture();
  afterEach(() => fixture.tidy());
  afterAll(() => fixture.close());
  return fixture;
}

/** Creates a database with one attempt that awaits deliveries. */
async function openReceiverFixture() {
  const databaseUrl = await createTestDatabase();
  const warehouse = testWarehouse(
    openWarehouse(databaseUrl, { connections: 16, connectMilliseconds: 2_000 }),
  );
  const attempt = await admitAttempt(warehouse);
  const tasks: (() => Promise<unknown>)[] = [];
  return {
    databaseUrl,
    warehouse,
    attempt,
    /** Starts a receiver; `tidy` closes the receiver. */
    receive: async (into = warehouse) => {
      const receiver = await startTestReceiver(into, attempt.token);
      tasks.push(() => receiver.close());
      return receiver;
    },
    inbox: async (): Promise<InboxRow[]> => {
      const statement = 'select * from enrichment.webhook_deliveries order by received_at';
      return (await warehouse.pool.query<InboxRow>(statement)).rows;
    },
    /** Adds a clean-up task; `tidy` runs the tasks in reverse order. */
    afterwards: (task: () => Promise<unknown>) => tasks.push(task),
    tidy: async () => {
      for (const task of tasks.splice(0).reverse()) await task();
      // Requests of broken connections may still be on their way into the inbox.
      const { pool } = warehouse;
      while (pool.waitingCount > 0 || pool.idleCount < pool.totalCount) await sleep(5);
      await pool.query('delete from enrichment.webhook_deliveries');
    },
    close: () => warehouse.close(),
  };
}

async function admitAttempt(warehouse: TestWarehouse) {
  const runId = await runningRun(warehouse);
  const admission = await admit(warehouse.database, {
    runId,
    rowNumbers: [1],
    creditsPerPerson: creditsFromWhole(9),
    lateResults: true,
  });
  if (admission.kind !== 'admitted' || admission.token === undefined) throw new Error(admission.kind);
  return { attemptId: admission.attemptId, runId, token: admission.token };
}

async function startTestReceiver(warehouse: TestWarehouse, ownToken: string) {
  const told: string[] = [];
  let logged = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged += chunk.toString();
      done();
    },
  });
  const receiver = await startReceiver({
    warehouse,
    host: '127.0.0.1',
    port: 0,
    onStored: (runId) => told.push(runId),
    log: pino({ level: 'trace', serializers: { err: describeError } }, stream),
  });
  const origin = `http://127.0.0.1:${receiver.port}`;
  return {
    port: receiver.port,
    /** Ids of the runs that were signalled about a delivery. */
    told: told as readonly string[],
    logged: () => logged,
    deliver: async (
      body: string | Buffer,
      {
        token = ownToken,
        headers = {},
        dispatcher,
      }: { token?: string; headers?: Record<string, string>; dispatcher?: Agent } = {},
    ) => {
      const started = performance.now();
      const answer = await fetch(`${origin}${webhookPath}${token}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
        ...(dispatcher && { dispatcher }),
      });
      return {
        status: answer.status,
        retryAfter: answer.headers.get('retry-after'),
        text: await answer.text(),
        milliseconds: performance.now() - started,
      };
    },
    /** Sends a GET request. @returns the HTTP status */
    get: async (path: string) => {
      const answer = await fetch(origin + path);
      await answer.text();
      return answer.status;
    },
    open: (text: string | Buffer) => openConnection(receiver.port, text),
    /** Returns the HTTP request head of a delivery, for `open`. */
    head: (
      headers: Record<string, string>,
      { method = 'POST', token = ownToken }: { method?: string; token?: string } = {},
    ) => {
      const lines = Object.entries({ host: 'receiver', ...headers }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      return `${method} ${webhookPath}${token} HTTP/1.1\r\n${lines.join('')}\r\n`;
    },
    close: () => receiver.close(),
  };
}

/** Opens a TCP connection and sends bytes. */
function openConnection(port: number, text: string | Buffer) {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1'))).on('error', () => {});
  socket.write(text);
  return {
    socket,
    /** All bytes that the receiver sent before it closed the connection. */
    closed: new Promise<string>((resolve) => socket.once('close', () => resolve(received))),
  };
}
