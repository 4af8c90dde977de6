import { expect, it } from 'vitest';
import { watchServers } from '../../../src/dev/watch-servers.ts';
import { Problem } from '../../../src/domain/problem.ts';

/** The advice of a watch whose server has ended and cannot be started again. */
function adviceAfter(cause: Error): Promise<string> {
  return new Promise((resolve) => {
    void watchServers({
      servers: [{ part: 'temporal', name: 'Temporal dev server', directory: '/no/such/folder' }],
      restart: () => Promise.reject(cause),
      onLost: ({ next }) => resolve(next),
      onStep: () => undefined,
      signal: new AbortController().signal,
    });
  });
}

const again = 'run the same command again: it starts the Temporal dev server and continues';
const withFreeSpace = 'free disk space, then run the same command again; nothing is lost';

it.each([
  ['port.taken', 'end the program that uses it', `end the program that uses it; then ${again}`],
  ['disk.full', withFreeSpace, withFreeSpace],
])('watchServers() advises once to run the command again after %s', async (type, next, advice) => {
  expect(await adviceAfter(new Problem(type, 'the server does not start', { next }))).toBe(advice);
});

it('watchServers() advises to run the command again after an error without advice', async () => {
  expect(await adviceAfter(new Error('no such file'))).toBe(again);
});
