import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { askYesOrNo } from '../../../src/cli/terminal/confirm.ts';

let keyboard: PassThrough;
let screen: PassThrough;

beforeEach(() => {
  keyboard = Object.assign(new PassThrough(), { isTTY: true });
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(keyboard as unknown as typeof process.stdin);
  screen = Object.assign(new PassThrough(), { isTTY: true });
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(screen as unknown as typeof process.stderr);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Types an answer after the question is on the screen, and returns what agrees() reads. */
async function answerTo(typed: string): Promise<boolean | undefined> {
  const answer = askYesOrNo('spend it?');
  await once(screen, 'data');
  keyboard.write(typed);
  return answer;
}

it('askYesOrNo() ignores what was typed before the question', async () => {
  keyboard.write('y\n');
  expect(await answerTo('n\n')).toBe(false);
});

it.each([
  ['y\n', true],
  [' Yes \n', true],
  ['\n', false],
  ['n\n', false],
  ['No\n', false],
  ['yesterday\n', undefined],
])('askYesOrNo() reads %j as %s', async (typed, yes) => {
  expect(await answerTo(typed)).toBe(yes);
});

it.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('askYesOrNo() reads %s as no answer', async (_name, typed) => {
  expect(await answerTo(typed)).toBeUndefined();
});
