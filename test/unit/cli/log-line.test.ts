import { expect, it } from 'vitest';
import { describeLogLine } from '../../../src/cli/terminal/log-line.ts';
import { rendered } from '../../../src/cli/terminal/style.ts';

const shown = (line: object): string =>
  rendered(describeLogLine(JSON.stringify({ time: '2026-11-22T12:03:44.123Z', ...line })), false);

it('describeLogLine() makes a warning a sentence with its facts', () => {
  expect(
    shown({ level: 'warn', attemptId: 'at-17', people: 10, httpStatus: 500, msg: 'a call failed' }),
  ).toBe('12:03:44 warning: a call failed (attempt at-17, people 10, http status 500)');
});

it('describeLogLine() shows an error by its message, without its stack', () => {
  const err = { name: 'Error', message: 'connection reset', stack: 'at x' };
  expect(shown({ level: 'error', err, msg: 'the poll failed' })).toBe(
    '12:03:44 error: the poll failed (connection reset)',
  );
});

it('describeLogLine() puts no mark before an informative line, and makes control characters visible', () => {
  expect(shown({ level: 'info', msg: 'started \u001b[2J' })).toBe('12:03:44 started \\u001b[2J');
});
