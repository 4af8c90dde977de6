import { createHash, randomBytes } from 'node:crypto';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { pino, type Logger } from 'pino';
import { Agent, fetch } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { wholeCredits } from '../../src/domain/decimal.ts';
import { admit } from '../../src/limits/admit.ts';
import { describeError } from '../../src/observe/log.ts';
import { openWarehouse, type Warehouse } from '../../src/warehouse/database.ts';
import { startReceiver, webhookPath, type RunningReceiver } from '../../src/webhook/receiver.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database.ts';
import { runningRun } from '../helpers/rows.ts';

let database: TestDatabase;
let warehouse: Warehouse;
let attempt: { readonly attemptId: string; readonly token: string; readonly runId: string };

beforeAll(async () => {
  database = await createTestDatabase();
  warehouse = openWarehouse(database.databaseUrl, { connections: 16, connectMilliseconds: 2_000 });
  const runId = await runningRun(warehouse);
  const admission = await admit(
    warehouse.database,
    {
      runId,
      batch: 1,
      rowNumbers: [1],
      creditsPerPerson: wholeCredits(9),
      deadlineSeconds: 30,
      lateResults: true,
    },
    { rateLimits: [], budgets: { perDay: undefined, perMonth: undefined } },
  );
  if (admission.kind !== 'admitted' || admission.token === undefined) throw new Error(admission.kind);
  attempt = { attemptId: admission.attemptId, token: admission.token, runId };
});

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  // What was sent on connections that broke may still be on its way into the inbox.
  const { pool } = warehouse;
  while (pool.waitingCount > 0 || pool.idleCount < pool.totalCount) await sleep(5);
  await warehouse.pool.query('delete from enrichment.webhook_deliveries');
});

afterAll(async () => {
  await warehouse.close();
  await database.drop();
});

interface House {
  readonly receiver: RunningReceiver;
  /** Runs that were told of a delivery. */
  readonly told: string[];
  readonly logged: () => string;
}

async function receive(into: Warehouse = warehouse): Promise<House> {
  const told: string[] = [];
  const { log, logged } = capturedLog();
  const receiver = await startReceiver({
    warehouse: into,
    host: '127.0.0.1',
    port: 0,
    onStored: (runId) => told.push(runId),
    log,
  });
  closing.push(() => receiver.close());
  return { receiver, told, logged };
}

function capturedLog(): { log: Logger; logged: () => string } {
  let text = '';
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return {
    log: pino({ level: 'trace', serializers: { err: describeError } }, stream),
    logged: () => text,
  };
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
  readonly milliseconds: number;
}

async function deliver(
  { receiver }: House,
  body: string | Buffer,
  options: { token?: string; headers?: Record<string, string>; dispatcher?: Agent } = {},
): Promise<Answer> {
  const started = performance.now();
  const { token = attempt.token, headers = {}, dispatcher } = options;
  const answer = await fetch(`http://127.0.0.1:${receiver.port}${webhookPath}${token}`, {
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
}

async function get({ receiver }: House, path: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${receiver.port}${path}`);
  await answer.text();
  return answer.status;
}

/** A connection below HTTP. */
interface RawConnection {
  readonly socket: Socket;
  /** All that came back, once the other side has closed. */
  readonly closed: Promise<string>;
}

function open({ receiver }: House, text: string | Buffer): RawConnection {
  const socket = connect(receiver.port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1'))).on('error', () => {});
  socket.write(text);
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  return { socket, closed };
}

function head(headers: Record<string, string>, options: { method?: string; token?: string } = {}): string {
  const { method = 'POST', token = attempt.token } = options;
  const lines = Object.entries({ host: 'receiver', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${webhookPath}${token} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

interface Stored {
  readonly attempt_id: string;
  readonly run_id: string;
  readonly status: string;
  readonly body: Buffer;
  readonly body_sha256: Buffer;
  readonly content_encoding: string | null;
}

async function inbox(): Promise<Stored[]> {
  const { rows } = await warehouse.pool.query<Stored>(
    'select * from enrichment.webhook_deliveries order by received_at',
  );
  return rows;
}

function sha256(body: Buffer): Buffer {
  return createHash('sha256').update(body).digest();
}

/** A TCP connection to the database that can be cut, and mended again. */
interface DatabaseLine {
  readonly warehouse: Warehouse;
  /** Nobody listens any more, and who was connected is not. */
  cut(): Promise<void>;
  /** Connections stay, and nothing comes through. */
  freeze(): void;
  mend(): Promise<void>;
}

async function databaseLine(): Promise<DatabaseLine> {
  const target = new URL(database.databaseUrl);
  const sockets = new Set<Socket>();
  let frozen = false;
  const server: Server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => frozen || to.write(chunk)).on('error', () => {});
      from.on('close', () => to.destroy());
    }
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await listen(0);
  const url = new URL(database.databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  // As a setting of the address: how long the driver waits for an answer.
  url.searchParams.set('query_timeout', '2000');
  const line = openWarehouse(url.href, { connections: 4, connectMilliseconds: 2_000 });
  const hangUp = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const cut = async () => {
    const stopped = new Promise((resolve) => server.close(resolve));
    hangUp();
    await stopped;
  };
  closing.push(async () => {
    hangUp();
    await line.close();
    server.close();
  });
  return {
    warehouse: line,
    cut,
    freeze: () => (frozen = true),
    mend: async () => {
      frozen = false;
      hangUp();
      if (!server.listening) await listen(Number(url.port));
    },
  };
}

describe('a delivery', () => {
  it('is stored as it came before it is answered with 2xx, and its run is told', async () => {
    const house = await receive();
    const body = Buffer.from('{"status":"success","people":[]}');
    expect(await deliver(house, body)).toMatchObject({ status: 200, text: '{"received":true}' });
    const [stored] = await inbox();
    expect(stored).toMatchObject({
      attempt_id: attempt.attemptId,
      run_id: attempt.runId,
      status: 'received',
      body,
      body_sha256: sha256(body),
      content_encoding: null,
    });
    expect(house.told).toEqual([attempt.runId]);
  });

  it('is a row and a 2xx each time that 200 identical ones come at once', async () => {
    const house = await receive();
    const answers = await Promise.all(Array.from({ length: 200 }, () => deliver(house, '{"same":true}')));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 200 }, () => 200));
    expect(await inbox()).toHaveLength(200);
  });

  it.each([
    ['NUL', Buffer.from('{"name":"a\u0000b"}')],
    ['a lone surrogate', Buffer.from('{"name":"\\ud800"}')],
    ['half a character', Buffer.from([0x7b, 0xed, 0xa0, 0x80, 0xff, 0xfe])],
    ['a number beyond all bounds', Buffer.from('{"credits_consumed":1e400000}')],
    ['a prototype', Buffer.from('{"__proto__":{"admin":true}}')],
    ['no JSON', Buffer.from('<html>502 Bad Gateway</html>')],
    ['nothing', Buffer.alloc(0)],
    ['random bytes', randomBytes(1_000_000)],
  ])('is kept byte for byte where it holds %s', async (_, body) => {
    const house = await receive();
    expect((await deliver(house, body)).status).toBe(200);
    const [stored] = await inbox();
    expect(stored!.body.equals(body)).toBe(true);
    expect(stored!.body_sha256.equals(sha256(body))).toBe(true);
  });

  it.each(['text/plain', 'application/json; charset=utf-16', 'nonsense;;=', '/', 'multipart/form-data'])(
    'is kept whatever type it says it has: %s',
    async (type) => {
      const house = await receive();
      expect((await deliver(house, '{}', { headers: { 'content-type': type } })).status).toBe(200);
      expect(await inbox()).toHaveLength(1);
    },
  );

  it('is kept compressed where it comes compressed, however much it would grow', async () => {
    const house = await receive();
    const bomb = gzipSync(Buffer.alloc(100 * 1_048_576));
    const before = process.memoryUsage().rss;
    expect((await deliver(house, bomb, { headers: { 'content-encoding': 'gzip' } })).status).toBe(200);
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1_048_576);
    const [stored] = await inbox();
    expect(stored).toMatchObject({ content_encoding: 'gzip' });
    expect(stored!.body.equals(bomb)).toBe(true);
  });
});

describe('a body that is not taken in', () => {
  it('is refused unread where it says itself that it is too large', async () => {
    const house = await receive();
    const { closed } = open(house, head({ 'content-length': '999999999' }));
    expect(await closed).toMatch(/^HTTP\/1\.1 413 /);
    expect(await inbox()).toEqual([]);
  });

  it('is cut off where it goes on without end, in memory that does not grow', async () => {
    const house = await receive();
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'x'), Buffer.from('\r\n')]);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const endless = Array.from({ length: 40 }, async () => {
      const { socket, closed } = open(house, head({ 'transfer-encoding': 'chunked' }));
      const send = () => {
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', send);
      send();
      return closed;
    });
    for (const answer of await Promise.all(endless)) expect(answer).toMatch(/^(HTTP\/1\.1 413 |$)/);
    expect(most).toBeLessThan(200 * 1_048_576);
    expect(await inbox()).toEqual([]);
  });

  it('makes room for honest ones where a hundred hold memory and send nothing more', async () => {
    const house = await receive();
    const part = Buffer.concat([
      Buffer.from(head({ 'content-length': '2000000' })),
      Buffer.alloc(1_900_000, 'x'),
    ]);
    const hoarders = Array.from({ length: 100 }, () => open(house, part));
    await Promise.all(
      hoarders.map(({ socket, closed }) =>
        Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]),
      ),
    );
    expect(await deliver(house, Buffer.alloc(500_000))).toMatchObject({ status: 200 });
    const cutOff = await Promise.all(
      hoarders.map(({ closed }) => Promise.race([closed.then(() => true), sleep(100).then(() => false)])),
    );
    // 64 MiB hold some 35 of them.
    expect(cutOff.filter(Boolean).length).toBeGreaterThan(60);
    expect(await inbox()).toHaveLength(1);
    for (const { socket } of hoarders) socket.destroy();
  });

  it('stores nothing where less comes than was said', async () => {
    const house = await receive();
    const { socket, closed } = open(house, `${head({ 'content-length': '100' })}{"half":`);
    socket.end();
    await closed;
    expect((await deliver(house, '{"whole":true}')).status).toBe(200);
    expect(await inbox()).toHaveLength(1);
    expect(house.logged()).toBe('');
  });

  it('closes the connection where more comes than was said', async () => {
    const house = await receive();
    const { closed } = open(house, `${head({ 'content-length': '2' })}{}and more\r\n\r\n`);
    expect(await closed).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('costs nothing afterwards where it was sent to a path that takes none', async () => {
    const house = await receive();
    const large = Buffer.alloc(2_000_000);
    for (let request = 0; request < 50; request += 1) {
      const answer = await fetch(`http://127.0.0.1:${house.receiver.port}/elsewhere`, {
        method: 'POST',
        body: large,
      }).catch(() => undefined);
      await answer?.text();
    }
    expect((await deliver(house, large)).status).toBe(200);
  });
});

describe('slow connections', () => {
  it(
    'are cut off, all 300 of them, and honest deliveries are answered meanwhile',
    { timeout: 40_000 },
    async () => {
      const house = await receive();
      const started = performance.now();
      const timeOf = async ({ closed }: RawConnection) => {
        await closed;
        return performance.now() - started;
      };
      const slow = [
        ...Array.from({ length: 150 }, () => open(house, head({ 'x-slow': '1' }).slice(0, -2))),
        ...Array.from({ length: 150 }, () => open(house, `${head({ 'content-length': '1000' })}{`)),
      ];
      const dribble = setInterval(() => {
        for (const [index, { socket }] of slow.entries()) {
          if (!socket.destroyed) socket.write(index < 150 ? 'x-more: 1\r\n' : ' ');
        }
      }, 500);
      const ended = Promise.all(slow.map(timeOf));
      const answers: number[] = [];
      let over = false;
      void ended.then(() => (over = true));
      while (!over) {
        answers.push((await deliver(house, '{"honest":true}')).status);
        await sleep(50);
      }
      clearInterval(dribble);
      const times = await ended;
      expect(new Set(answers)).toEqual(new Set([200]));
      expect(Math.max(...times.slice(0, 150))).toBeLessThan(8_000);
      expect(Math.max(...times.slice(150))).toBeLessThan(13_000);
      expect(await inbox()).toHaveLength(answers.length);
    },
  );
});

describe('a token', () => {
  const answerTo = async (house: House, options: { method?: string; token?: string }): Promise<string> => {
    const body = options.method === 'GET' ? '' : '{"a":1}';
    const headers = { 'content-length': String(body.length), connection: 'close' };
    const answer = await open(house, head(headers, options) + body).closed;
    return answer.replace(/^date: .*\r\n/im, '');
  };

  it('gets the same answer, byte for byte, whatever is wrong with it', async () => {
    const house = await receive();
    const { token } = attempt;
    const other = token.startsWith('A') ? 'B' : 'A';
    const unknown = await answerTo(house, { token: randomBytes(32).toString('base64url') });
    expect(unknown).toMatch(/^HTTP\/1\.1 404 [^]*\{"error":"not found"\}$/);
    const wrong = [
      other + token.slice(1),
      token.slice(0, -1),
      token.slice(0, 20),
      `${token}A`,
      token + token,
      'x'.repeat(600),
      'short',
      '',
      `${token}/`,
      `${token}/more`,
      `${token}%00`,
      '%zz',
      '%ff',
      "' or true --".replaceAll(' ', '%20'),
      createHash('sha256').update(token).digest('hex'),
    ];
    for (const each of wrong) expect(await answerTo(house, { token: each })).toBe(unknown);
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY', 'TRACE']) {
      expect(await answerTo(house, { method })).toBe(unknown);
    }
    expect(await inbox()).toEqual([]);
    expect(house.told).toEqual([]);
  });

  it('is in the database as a hash only, and in no log, nor is a body', async () => {
    const house = await receive();
    const secret = '+4917012345678 mira@nordlys.example';
    await warehouse.pool.query(
      `alter table enrichment.webhook_deliveries add constraint refusing check (octet_length(body) <> ${secret.length}) not valid`,
    );
    closing.push(() =>
      warehouse.pool.query('alter table enrichment.webhook_deliveries drop constraint refusing'),
    );
    expect(await deliver(house, secret)).toMatchObject({ status: 503, retryAfter: '10' });
    await deliver(house, '{}', { token: 'wrong-wrong-wrong-wrong' });
    await deliver(house, 'x'.repeat(3_000_000)).catch(() => undefined);
    const logged = house.logged();
    expect(logged).toContain('a delivery could not be stored');
    for (const hidden of [
      attempt.token,
      'wrong-wrong',
      secret,
      'nordlys',
      Buffer.from(secret).toString('hex'),
    ]) {
      expect(logged).not.toContain(hidden);
    }
    const { rows } = await warehouse.pool.query<{ row: string }>(
      'select a::text as row from enrichment.attempts a',
    );
    expect(JSON.stringify(rows)).not.toContain(attempt.token);
  });
});

describe('while the database is away', () => {
  it('deliveries are sent back quickly and not kept, and taken in again once it is there', async () => {
    const line = await databaseLine();
    const house = await receive(line.warehouse);
    expect((await deliver(house, '{"before":1}')).status).toBe(200);
    await line.cut();
    const answers = await Promise.all(Array.from({ length: 50 }, () => deliver(house, '{"lost":1}')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(new Set(answers.map(({ retryAfter }) => retryAfter))).toEqual(new Set(['10']));
    expect(Math.max(...answers.map(({ milliseconds }) => milliseconds))).toBeLessThan(3_000);
    expect([await get(house, '/healthz'), await get(house, '/readyz')]).toEqual([200, 503]);
    await line.mend();
    expect((await deliver(house, '{"after":1}')).status).toBe(200);
    expect(await get(house, '/readyz')).toBe(200);
    expect((await inbox()).map(({ body }) => body.toString())).toEqual(['{"before":1}', '{"after":1}']);
    expect(house.told).toHaveLength(2);
  });

  it('deliveries are sent back quickly where it is reached and never answers', async () => {
    const line = await databaseLine();
    const house = await receive(line.warehouse);
    expect((await deliver(house, '{"before":1}')).status).toBe(200);
    line.freeze();
    const answers = await Promise.all(Array.from({ length: 50 }, () => deliver(house, '{"lost":1}')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(Math.max(...answers.map(({ milliseconds }) => milliseconds))).toBeLessThan(5_000);
    expect(await get(house, '/healthz')).toBe(200);
    await line.mend();
    expect((await deliver(house, '{"after":1}')).status).toBe(200);
  });
});

describe('closing', () => {
  it('loses nothing under load: who saw a 2xx has a row, and nobody is left without an end', async () => {
    const house = await receive();
    const agents = Array.from({ length: 4 }, () => new Agent({ connections: 5 }));
    const accepted: string[] = [];
    let number = 0;
    let over = false;
    const senders = Array.from({ length: 20 }, async (_, index) => {
      const dispatcher = agents[index % agents.length]!;
      while (!over) {
        const body = `{"number":${(number += 1)}}`;
        const answer = await deliver(house, body, { dispatcher }).catch(() => undefined);
        if (answer?.status === 200) accepted.push(body);
        else await sleep(5);
      }
    });
    while (accepted.length < 500) await sleep(10);
    await house.receiver.close();
    over = true;
    await Promise.all(senders);
    await Promise.all(agents.map((agent) => agent.close()));
    const stored = new Set((await inbox()).map(({ body }) => body.toString()));
    expect(accepted.filter((body) => !stored.has(body))).toEqual([]);
  });

  it('answers a delivery that is still arriving', async () => {
    const house = await receive();
    const { socket, closed } = open(house, `${head({ 'content-length': '10' })}{"a":`);
    await sleep(100);
    const started = performance.now();
    const ended = house.receiver.close();
    await sleep(100);
    socket.write('1234}');
    expect(await closed).toMatch(/^HTTP\/1\.1 200 /);
    await ended;
    expect(performance.now() - started).toBeLessThan(2_000);
    expect((await inbox()).map(({ body }) => body.toString())).toEqual(['{"a":1234}']);
  });

  it('waits for nobody who sends without end, or nothing', async () => {
    const house = await receive();
    const silent = open(house, '');
    const endless = open(house, `${head({ 'content-length': '1000000' })}{`);
    const dribble = setInterval(() => endless.socket.destroyed || endless.socket.write(' '), 200);
    await sleep(100);
    const started = performance.now();
    await house.receiver.close();
    clearInterval(dribble);
    expect(performance.now() - started).toBeLessThan(7_000);
    await Promise.all([silent.closed, endless.closed]);
  });
});
