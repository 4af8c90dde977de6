import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { receiverFixtureOfFile, type RawConnection } from '../../helpers/servers/receiver-fixture.ts';

const fixture = await receiverFixtureOfFile();

it('the receiver refuses a request by its Content-Length if it is too large', async () => {
  const receiver = await fixture.receive();
  const { closed } = receiver.open(receiver.head({ 'content-length': '999999999' }));
  expect(await closed).toMatch(/^HTTP\/1\.1 413 /);
  expect(await fixture.inbox()).toEqual([]);
});

it('the receiver cuts off 40 endless requests, and uses less than 200 MB for them', async () => {
  const receiver = await fixture.receive();
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'x'), Buffer.from('\r\n')]);
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const endless = Array.from({ length: 40 }, async () => {
    const { socket, closed } = receiver.open(receiver.head({ 'transfer-encoding': 'chunked' }));
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
  expect(await fixture.inbox()).toEqual([]);
});

it('the receiver answers 503 while it holds 64 MB of unfinished bodies, and 200 afterwards', async () => {
  const receiver = await fixture.receive();
  const head = Buffer.from(receiver.head({ 'content-length': '2000000' }));
  const part = Buffer.concat([head, Buffer.alloc(1_900_000, 'x')]);
  const hoarders = Array.from({ length: 40 }, () => receiver.open(part));
  const refused = await Promise.race(hoarders.map(({ closed }) => closed));
  expect(refused).toMatch(/^HTTP\/1\.1 503 /);
  for (const { socket } of hoarders) socket.destroy();
  await expect.poll(async () => (await receiver.deliver('{"honest":true}')).status).toBe(200);
  expect(await fixture.inbox()).toHaveLength(1);
});

it('the receiver stores nothing if a request is shorter than its Content-Length', async () => {
  const receiver = await fixture.receive();
  const { socket, closed } = receiver.open(`${receiver.head({ 'content-length': '100' })}{"half":`);
  socket.end();
  await closed;
  expect((await receiver.deliver('{"whole":true}')).status).toBe(200);
  expect(await fixture.inbox()).toHaveLength(1);
  expect(receiver.logged()).toBe('');
});

it('the receiver closes the connection if a request is longer than its Content-Length', async () => {
  const receiver = await fixture.receive();
  const { closed } = receiver.open(`${receiver.head({ 'content-length': '2' })}{}and more\r\n\r\n`);
  expect(await closed).toMatch(/^HTTP\/1\.1 400 /);
});

it(
  'the receiver cuts off 300 slow connections, and accepts other deliveries at the same time',
  { timeout: 40_000 },
  async () => {
    const receiver = await fixture.receive();
    const started = performance.now();
    const timeOf = async ({ closed }: RawConnection) => {
      await closed;
      return performance.now() - started;
    };
    const slow = [
      ...Array.from({ length: 150 }, () => receiver.open(receiver.head({ 'x-slow': '1' }).slice(0, -2))),
      ...Array.from({ length: 150 }, () => receiver.open(`${receiver.head({ 'content-length': '1000' })}{`)),
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
      answers.push((await receiver.deliver('{"honest":true}')).status);
      await sleep(50);
    }
    clearInterval(dribble);
    const times = await ended;
    expect(new Set(answers)).toEqual(new Set([200]));
    // The receiver waits 5 s for headers and 10 s for a body; Node's default is 60 s and 300 s.
    expect(Math.max(...times.slice(0, 150))).toBeLessThan(25_000);
    expect(Math.max(...times.slice(150))).toBeLessThan(30_000);
    expect(await fixture.inbox()).toHaveLength(answers.length);
  },
);
