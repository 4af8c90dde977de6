/**
 * Benchmark of the receiver: durably stored deliveries per second, compared with a bare fastify server with
 * one INSERT.
 *
 * `npm run bench:receiver [-- --seconds 5 --senders 32]`. Each server is a process of its own, on an embedded
 * PostgreSQL that flushes to disk. Both take turns with the same numbers of connections and senders.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import fastify from 'fastify';
import { pino } from 'pino';
import { Pool } from 'undici';
import { hashToken } from '../../src/ledger/admit.ts';
import { openWarehouse, type Warehouse } from '../../src/db/database.ts';
import { startReceiver, webhookPath, WakeUps } from '../../src/late-results/receiver.ts';
import { runningRun } from '../helpers/warehouse/rows.ts';
import { openBenchDatabase } from './bench-database.ts';
import { benchOptions } from './command-line.ts';
import { quantile } from './quantile.ts';
import { testWarehouse } from '../helpers/database/test-warehouse.ts';

const databaseConnections = 16;
const options = benchOptions('senders', 'seconds');
const senders = Number(options.senders ?? 32);
/** Number of rounds; the results are medians of the rounds. */
const rounds = 5;
const attempts = 1_000;
const bodyBytes = 4_000;

interface Server {
  readonly name: 'bare' | 'receiver';
  readonly process: ChildProcess;
  readonly port: number;
}

interface Measured {
  readonly perSecond: number;
  /** Milliseconds from sending a delivery to its answer. */
  readonly times: readonly number[];
}

const [role, databaseUrl] = process.argv.slice(2);
if ((role === 'bare' || role === 'receiver') && databaseUrl !== undefined) await serve(role, databaseUrl);
else await compare(Number(options.seconds ?? 5));

async function compare(seconds: number): Promise<void> {
  const { databaseUrl: url, close } = await openBenchDatabase();
  const servers: ChildProcess[] = [];
  try {
    const tokens = await prepare(url);
    const [bare, receiver] = [await start('bare', url), await start('receiver', url)];
    servers.push(bare.process, receiver.process);
    console.log(
      `${cpus().length} processors; bodies of ${bodyBytes} bytes from ${senders} senders; ` +
        `${databaseConnections} database connections\n`,
    );
    const measured: Record<Server['name'], Measured[]> = { bare: [], receiver: [] };
    for (const { port } of [bare, receiver]) await measure(port, tokens, 2);
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, port } of round % 2 === 0 ? [bare, receiver] : [receiver, bare]) {
        measured[name].push(await measure(port, tokens, seconds));
      }
    }
    console.log(row('bare fastify and one insert', measured.bare, await peakMegabytes(bare)));
    console.log(row('receiver', measured.receiver, await peakMegabytes(receiver)));
    const [bareRate, receiverRate] = [measured.bare, measured.receiver].map((each) =>
      quantile(each.map(({ perSecond }) => perSecond)),
    );
    console.log(
      `\nThe receiver stores ${((100 * receiverRate!) / bareRate!).toFixed(0)} % of what the bare insert does`,
    );
  } finally {
    for (const server of servers) server.kill();
    await close();
  }
}

/** Creates attempts that await deliveries, and the table of the bare server. @returns the tokens of the attempts */
async function prepare(url: string): Promise<string[]> {
  const warehouse = testWarehouse(openWarehouse(url));
  const tokens = Array.from({ length: attempts }, () => randomBytes(32).toString('base64url'));
  await warehouse.pool.query(
    `insert into attempts (attempt_id, run_id, batch, status, people, credits_reserved, budget_ids, token_hash)
      select 'attempt-' || place, $1, place, 'awaiting', 10, 80, '{}', token_hash
      from unnest($2::bytea[]) with ordinality as made (token_hash, place)`,
    [await runningRun(warehouse), tokens.map(hashToken)],
  );
  await warehouse.pool.query(
    'create table bare_deliveries (delivery_id text primary key, body bytea not null)',
  );
  await warehouse.pool.query('alter table bare_deliveries alter column body set storage external');
  await warehouse.close();
  return tokens;
}

async function start(name: Server['name'], url: string): Promise<Server> {
  const child = fork(fileURLToPath(import.meta.url), [name, url]);
  const [port] = (await once(child, 'message')) as [number];
  return { name, process: child, port };
}

/** Runs a server in this process. */
async function serve(name: Server['name'], url: string): Promise<void> {
  const warehouse = testWarehouse(openWarehouse(url, { connections: databaseConnections }));
  process.send?.(name === 'bare' ? await listenBare(warehouse) : await listenReceiver(warehouse));
  process.on('message', () => process.send?.(process.resourceUsage().maxRSS * 1_024));
}

async function listenBare({ pool }: Warehouse): Promise<number> {
  const server = fastify();
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.post(`${webhookPath}:token`, async (request, reply) => {
    await pool.query({
      name: 'bare',
      text: 'insert into bare_deliveries (delivery_id, body) values ($1, $2)',
      values: [randomUUID(), request.body],
    });
    return reply.send({ received: true });
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  return (server.server.address() as AddressInfo).port;
}

async function listenReceiver(warehouse: Warehouse): Promise<number> {
  const wakeUps = new WakeUps(async () => {});
  const receiver = await startReceiver({
    warehouse,
    host: '127.0.0.1',
    port: 0,
    onStored: (runId) => wakeUps.stored(runId),
    log: pino({ level: 'warn' }),
  });
  return receiver.port;
}

async function peakMegabytes({ process: child }: Server): Promise<number> {
  child.send('memory');
  const [bytes] = (await once(child, 'message')) as [number];
  return bytes / 1_048_576;
}

/** Each sender keeps its connection and sends its next delivery after the answer to the last one. */
async function measure(port: number, tokens: readonly string[], seconds: number): Promise<Measured> {
  const connections = new Pool(`http://127.0.0.1:${port}`, { connections: senders, pipelining: 1 });
  const times: number[] = [];
  const started = performance.now();
  const until = started + seconds * 1_000;
  await Promise.all(
    Array.from({ length: senders }, async (_, sender) => {
      for (let number = sender; performance.now() < until; number += senders) {
        const sent = performance.now();
        const { statusCode, body } = await connections.request({
          method: 'POST',
          path: webhookPath + tokens[number % tokens.length]!,
          headers: { 'content-type': 'application/json' },
          body: randomBytes(bodyBytes),
        });
        await body.dump();
        if (statusCode !== 200) throw new Error(`the receiver answered a delivery with ${statusCode}`);
        times.push(performance.now() - sent);
      }
    }),
  );
  const perSecond = times.length / ((performance.now() - started) / 1_000);
  await connections.close();
  return { perSecond, times };
}

function row(name: string, measured: readonly Measured[], megabytes: number): string {
  const times = measured.flatMap((round) => round.times);
  const shown = (share: number): string => quantile(times, share).toFixed(1).padStart(7);
  const perSecond = quantile(measured.map((round) => round.perSecond)).toFixed(0);
  return (
    `${name.padEnd(30)} ${perSecond.padStart(6)} deliveries/s  p50 ${shown(0.5)} ms  ` +
    `p99 ${shown(0.99)} ms  peak memory ${megabytes.toFixed(0).padStart(4)} MB`
  );
}
