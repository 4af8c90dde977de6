import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { describeWorkerPoll, readWorkerPoll } from '../../../src/temporal/connection.ts';
import { workerIdentity } from '../../../src/temporal/worker-identity.ts';

const now = Date.parse('2026-11-24T03:00:00Z');

/** A client of a server whose queues were polled so many seconds ago. */
function polled(...secondsAgo: readonly (readonly number[])[]): Client {
  const answers = secondsAgo.map((queue) => ({
    pollers: queue.map((seconds) => ({ lastAccessTime: { seconds: now / 1_000 - seconds } })),
  }));
  return {
    options: { namespace: 'default' },
    workflowService: { describeTaskQueue: () => Promise.resolve(answers.shift()) },
  } as unknown as Client;
}

it.each([
  ['a live worker', [[12], [40]], false, 'a worker polled 12s ago'],
  ['a worker whose call slots are full', [[59], [200]], false, 'a worker polled 59s ago'],
  ['the end of a minute-long poll', [[70], [70]], false, 'a worker polled 1m 10s ago'],
  ['a killed worker', [[125, 150], [130]], true, 'no worker has polled for 2m 5s'],
  ['one of two workers killed', [[125, 3], [130]], false, 'a worker polled 3s ago'],
  ['no worker', [[], []], true, 'no worker has polled in the last five minutes'],
  ['a clock that is ahead', [[-4], [-4]], false, 'a worker polled 0s ago'],
])('the last poll of %s is read and described', async (_, secondsAgo, isLost, text) => {
  const poll = await readWorkerPoll(polled(...secondsAgo), new Date(now));
  expect(poll.isLost).toBe(isLost);
  expect(describeWorkerPoll(poll)).toBe(text);
});

it('readWorkerPoll() names the keys of live workers that encrypt', async () => {
  const poller = (secondsAgo: number, keyName?: string) => ({
    lastAccessTime: { seconds: now / 1_000 - secondsAgo },
    identity: workerIdentity(keyName),
  });
  const pollers = [poller(3, '2026-11'), poller(4, '2026-11'), poller(5), poller(200, '2025-11')];
  const client = {
    options: { namespace: 'default' },
    workflowService: { describeTaskQueue: () => Promise.resolve({ pollers }) },
  } as unknown as Client;
  expect((await readWorkerPoll(client, new Date(now))).keyNames).toEqual(['2026-11']);
});
