import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { agrees } from '../../../src/cli/terminal/confirm.ts';

let keyboard: PassThrough;

beforeEach(() => {
  keyboard = Object.assign(new PassThrough(), { isTTY: true });
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(keyboard as unknown as typeof process.stdin);
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(
    Object.assign(new PassThrough(), { isTTY: true }) as unknown as typeof process.stderr,
  );
});

afterEach(() => {
  vi.restoreAllMocks();
});

it.each([
  ['y\n', true],
  [' Yes \n', true],
  ['\n', false],
  ['n\n', false],
  ['No\n', false],
])('agrees() reads %j as %s', async (typed, yes) => {
  const answer = agrees('spend it?');
  keyboard.write(typed);
  expect(await answer).toBe(yes);
});

it.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('agrees() reads %s as no answer', async (_name, typed) => {
  const answer = agrees('spend it?');
  keyboard.write(typed);
  expect(await answer).toBeUndefined();
});

it('agrees() waits no longer than its limit', async () => {
  const waits = new AbortController();
  const answer = agrees('spend it?', waits.signal);
  waits.abort();
  expect(await answer).toBeUndefined();
});

it.each([
  ['y\n', true],
  ['no\n', false],
])(
  'agrees() asks again after an answer that is neither yes nor no, and then reads %j as %s',
  async (last, yes) => {
    const answer = agrees('spend it?');
    keyboard.write('maybe\nyesterday\n');
    keyboard.write(last);
    expect(await answer).toBe(yes);
  },
);
