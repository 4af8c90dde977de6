import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { readConfig } from '../../../src/config/settings.ts';
import { describeWorkerPoll, readWorkerPoll } from '../../../src/temporal/connection.ts';
import { hashSharedSettings, workerIdentity } from '../../../src/temporal/worker-identity.ts';

const now = Date.parse('2026-11-24T03:00:00Z');

/** A Temporal client. Each list has the seconds since the last polls of one task queue. */
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
  ['a worker at the end of a minute-long poll', [[70], [70]], false, 'a worker polled 1m 10s ago'],
  ['a killed worker', [[125, 150], [130]], true, 'no worker has polled for 2m 5s'],
  ['a killed worker beside a live one', [[125, 3], [130]], false, 'a worker polled 3s ago'],
  ['no worker', [[], []], true, 'no worker has polled in the last five minutes'],
  ['a server clock that is ahead', [[-4], [-4]], false, 'a worker polled 0s ago'],
])('readWorkerPoll() finds and describes the last poll: %s', async (_, secondsAgo, isLost, text) => {
  const poll = await readWorkerPoll(polled(...secondsAgo), new Date(now));
  expect(poll.isLost).toBe(isLost);
  expect(describeWorkerPoll(poll)).toBe(text);
});

const marks = (settings: Record<string, string>, key?: string): string =>
  hashSharedSettings(readConfig(settings), key);

it('readWorkerPoll() returns each settings mark of live workers once', async () => {
  const [one, other] = [marks({}), marks({ RATE_LIMITS: '20/minute' })];
  const pollers = [one, one, other, marks({}, 'key')].map((mark, index) => ({
    lastAccessTime: { seconds: now / 1_000 - (index === 3 ? 200 : index) },
    identity: workerIdentity(mark),
  }));
  const workflowService = { describeTaskQueue: () => Promise.resolve({ pollers }) };
  const client = { options: { namespace: 'default' }, workflowService } as unknown as Client;
  expect((await readWorkerPoll(client, new Date(now))).settings).toEqual([one, other]);
});

it('hashSharedSettings() changes with shared settings and the codec key, and ignores the login of a URL', () => {
  const hook = (login: string): string => marks({ WEBHOOK_PUBLIC_URL: `https://${login}hooks.example.com` });
  expect(hook('ada:secret@')).toBe(hook(''));
  const written = { RATE_LIMITS: '600/hour', CALL_TIMEOUT: '1m', CALL_CONCURRENCY: '9', LOG_LEVEL: 'debug' };
  expect(marks(written)).toBe(marks({}));
  const changes = { RATE_LIMITS: '20/minute', MAX_CREDITS_PER_DAY: '500', RETENTION: 'answers=30d' };
  for (const [name, value] of Object.entries(changes)) expect(marks({ [name]: value })).not.toBe(marks({}));
  expect(marks({}, 'key')).not.toBe(marks({}));
});
