import { once } from 'node:events';
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { openWarehouse } from '../../../src/db/database.ts';
import { receiverFixtureOfFile, type TestReceiver } from '../../helpers/servers/receiver-fixture.ts';
import { startTcpProxy, type TcpProxy } from '../../helpers/servers/tcp-proxy.ts';
import { testWarehouse, type TestWarehouse } from '../../helpers/database/test-warehouse.ts';

const fixture = await receiverFixtureOfFile();

function sha256(body: Buffer): Buffer {
  return createHash('sha256').update(body).digest();
}

it('the receiver stores a delivery unchanged, answers with 200, and signals the run', async () => {
  const receiver = await fixture.receive();
  const body = Buffer.from('{"status":"success","people":[]}');
  expect(await receiver.deliver(body)).toMatchObject({ status: 200, text: '{"received":true}' });
  const [stored] = await fixture.inbox();
  expect(stored).toMatchObject({
    attempt_id: fixture.attempt.attemptId,
    run_id: fixture.attempt.runId,
    status: 'received',
    body,
    body_sha256: sha256(body),
  });
  expect(receiver.told).toEqual([fixture.attempt.runId]);
});

it('the receiver stores 200 identical simultaneous deliveries as 200 rows, and answers each with 200', async () => {
  const receiver = await fixture.receive();
  const answers = await Promise.all(Array.from({ length: 200 }, () => receiver.deliver('{"same":true}')));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 200 }, () => 200));
  expect(await fixture.inbox()).toHaveLength(200);
});

it.each([
  ['a NUL character', Buffer.from('{"name":"a\u0000b"}')],
  ['half a UTF-8 character', Buffer.from([0x7b, 0xed, 0xa0, 0x80, 0xff, 0xfe])],
  ['HTML instead of JSON', Buffer.from('<html>502 Bad Gateway</html>')],
  ['random bytes', randomBytes(1_000_000)],
])('a delivery is stored byte for byte if it contains %s', async (_, body) => {
  const receiver = await fixture.receive();
  expect((await receiver.deliver(body)).status).toBe(200);
  const [stored] = await fixture.inbox();
  expect(stored!.body.equals(body)).toBe(true);
  expect(stored!.body_sha256.equals(sha256(body))).toBe(true);
});

it('a gzip delivery of 100 MB of content is stored compressed, and is not unpacked in memory', async () => {
  const receiver = await fixture.receive();
  const bomb = gzipSync(Buffer.alloc(100 * 1_048_576));
  const before = process.memoryUsage().rss;
  expect((await receiver.deliver(bomb, { headers: { 'content-encoding': 'gzip' } })).status).toBe(200);
  expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1_048_576);
  const [stored] = await fixture.inbox();
  expect(stored!.body.equals(bomb)).toBe(true);
});

const answerTo = async (
  receiver: TestReceiver,
  options: { method?: string; token?: string },
): Promise<string> => {
  const body = options.method === 'GET' ? '' : '{"a":1}';
  const headers = { 'content-length': String(body.length), connection: 'close' };
  const answer = await receiver.open(receiver.head(headers, options) + body).closed;
  return answer.replace(/^date: .*\r\n/im, '');
};

it('the receiver gives every wrong token the same answer, byte for byte', async () => {
  const receiver = await fixture.receive();
  const { token } = fixture.attempt;
  const other = token.startsWith('A') ? 'B' : 'A';
  const unknown = await answerTo(receiver, { token: randomBytes(32).toString('base64url') });
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
    `${token}//`,
    `${token}/more`,
    `${token}%00`,
    '%zz',
    '%ff',
    "' or true --".replaceAll(' ', '%20'),
    createHash('sha256').update(token).digest('hex'),
  ];
  for (const each of wrong) expect(await answerTo(receiver, { token: each })).toBe(unknown);
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY', 'TRACE']) {
    expect(await answerTo(receiver, { method })).toBe(unknown);
  }
  expect(await fixture.inbox()).toEqual([]);
  expect(receiver.told).toEqual([]);
});

it('a delivery is stored even if its URL has a slash after the token', async () => {
  const receiver = await fixture.receive();
  const { token } = fixture.attempt;
  for (const end of ['/', '/?attempt=2']) {
    expect(await receiver.deliver('{}', { token: token + end })).toMatchObject({ status: 200 });
  }
  expect(await fixture.inbox()).toHaveLength(2);
  expect(receiver.told).toEqual([fixture.attempt.runId, fixture.attempt.runId]);
});

it('the receiver stores only the hash of a token, and no log has a token or a payload', async () => {
  const receiver = await fixture.receive();
  const secret = '+4917012345678 mira@nordlys.example';
  await fixture.warehouse.pool.query(
    'alter table enrichment.webhook_deliveries add constraint refusing check (octet_length(body) <> ' +
      `${secret.length}) not valid`,
  );
  fixture.afterwards(
    () => fixture.warehouse.query`alter table enrichment.webhook_deliveries drop constraint refusing`,
  );
  expect(await receiver.deliver(secret)).toMatchObject({ status: 503, retryAfter: '10' });
  await receiver.deliver('{}', { token: 'wrong-wrong-wrong-wrong' });
  await receiver.deliver('x'.repeat(3_000_000)).catch(() => undefined);
  const logged = receiver.logged();
  expect(logged).toContain('a delivery could not be stored');
  for (const hidden of [
    fixture.attempt.token,
    'wrong-wrong',
    secret,
    'nordlys',
    Buffer.from(secret).toString('hex'),
  ]) {
    expect(logged).not.toContain(hidden);
  }
  const rows = await fixture.warehouse.query<{ row: string }>`
    select a::text as row from enrichment.attempts a`;
  expect(JSON.stringify(rows)).not.toContain(fixture.attempt.token);
});

/** Maximum milliseconds for an answer of the receiver; a shorter time would measure the machine. */
const serviceWaits = 30_000;

const throughProxy = async (): Promise<{ proxy: TcpProxy; warehouse: TestWarehouse }> => {
  const url = new URL(fixture.databaseUrl);
  const proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  // The driver waits two seconds for the answer to a statement.
  url.searchParams.set('query_timeout', '2000');
  const warehouse = testWarehouse(openWarehouse(url.href, { connections: 4, connectMilliseconds: 2_000 }));
  fixture.afterwards(async () => {
    await warehouse.close();
    await proxy.close();
  });
  return { proxy, warehouse };
};

it.each<[string, (proxy: TcpProxy) => unknown]>([
  ['refuses connections', (proxy) => proxy.close()],
  ['accepts connections but does not respond', (proxy) => proxy.freeze()],
])('the receiver answers 503 while the database %s, and accepts deliveries afterwards', async (_, cut) => {
  const { proxy, warehouse } = await throughProxy();
  const receiver = await fixture.receive(warehouse);
  expect((await receiver.deliver('{"before":1}')).status).toBe(200);
  await cut(proxy);
  const answers = await Promise.all(Array.from({ length: 50 }, () => receiver.deliver('{"lost":1}')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  expect(new Set(answers.map(({ retryAfter }) => retryAfter))).toEqual(new Set(['10']));
  expect(Math.max(...answers.map(({ milliseconds }) => milliseconds))).toBeLessThan(serviceWaits);
  expect([await receiver.get('/healthz'), await receiver.get('/readyz')]).toEqual([200, 503]);
  await proxy.reopen();
  expect((await receiver.deliver('{"after":1}')).status).toBe(200);
  expect(await receiver.get('/readyz')).toBe(200);
  const stored = (await fixture.inbox()).map(({ body }) => body.toString());
  expect(stored).toEqual(['{"before":1}', '{"after":1}']);
  expect(receiver.told).toHaveLength(2);
});

it('a receiver that closes still answers a delivery that is arriving', async () => {
  const receiver = await fixture.receive();
  const head = receiver.head({ 'content-length': '10', expect: '100-continue' });
  const { socket, closed } = receiver.open(`${head}{"a":`);
  // The receiver has read the head and waits for the body.
  expect(String(await once(socket, 'data'))).toContain('100 Continue');
  const started = performance.now();
  const ended = receiver.close();
  socket.write('1234}');
  expect(await closed).toMatch(/\r\n\r\nHTTP\/1\.1 200 /);
  await ended;
  expect(performance.now() - started).toBeLessThan(2_000);
  expect((await fixture.inbox()).map(({ body }) => body.toString())).toEqual(['{"a":1234}']);
});

it('a receiver that closes does not wait for endless or silent senders', async () => {
  const receiver = await fixture.receive();
  const silent = receiver.open('');
  const endless = receiver.open(`${receiver.head({ 'content-length': '1000000' })}{`);
  const dribble = setInterval(() => endless.socket.destroyed || endless.socket.write(' '), 200);
  await sleep(100);
  const started = performance.now();
  await receiver.close();
  clearInterval(dribble);
  expect(performance.now() - started).toBeLessThan(7_000);
  await Promise.all([silent.closed, endless.closed]);
});
