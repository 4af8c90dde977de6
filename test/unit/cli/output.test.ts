import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Problem } from '../../../src/domain/problem.ts';
import {
  commandAsTyped,
  beginOutput,
  beQuiet,
  describeLogLine,
  reportFailure,
  showProgressLine,
  printProgress,
  writeBytes,
} from '../../../src/cli/terminal/output.ts';

it.each([
  ['', 'enrich status latest', 'enrich status latest'],
  ['exec', 'next: enrich status latest; enrich runs', 'next: npx enrich status latest; enrich runs'],
  ['run-script', 'npx enrich status of /tmp/enrich status', 'npx enrich status of /tmp/enrich status'],
])('commandAsTyped() shows the program as the user started it (npm_command=%s): %s', (npm, hint, shown) => {
  vi.stubEnv('npm_command', npm);
  onTestFinished(() => void vi.unstubAllEnvs());
  beginOutput(['status', 'run']);
  expect(commandAsTyped(hint)).toBe(shown);
});

it('with --quiet only the result and errors are printed', () => {
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => {
    vi.restoreAllMocks();
    beginOutput([]);
  });
  beginOutput([]);
  beQuiet();
  printProgress('planning');
  showProgressLine('enriching 3/10');
  reportFailure(new Error('reset'), false);
  expect(told.mock.calls.map(([line]) => String(line).split('\n')[0])).toEqual(['error: reset']);
});

it.each([
  [true, ['error: the plan has the hash 19d6 and', '       not 9d28', '  next:  run the plan', '']],
  [false, ['error: the plan has the hash 19d6 and not 9d28', '  next:  run the plan', '']],
])('an error is wrapped to the width of the terminal, and only on a terminal (%s)', (isTTY, lines) => {
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { isTTY: wasTTY, columns } = process.stderr;
  onTestFinished(() => {
    vi.restoreAllMocks();
    Object.assign(process.stderr, { isTTY: wasTTY, columns });
  });
  Object.assign(process.stderr, { isTTY, columns: 40 });
  const next = 'run the plan';
  reportFailure(new Problem('plan.changed', 'the plan has the hash 19d6 and not 9d28', { next }), false);
  expect(told.mock.calls.map(String).join('').split('\n')).toEqual(lines);
});

const cells = 'Zoë,\u001b[2J\u009b31m\u202e\n';

async function written(pieces: readonly Uint8Array[], isTTY: boolean): Promise<string> {
  const output = Object.assign(new PassThrough(), { isTTY });
  await writeBytes(pieces, output as unknown as NodeJS.WriteStream);
  output.end();
  return text(output);
}

it('writeBytes() makes control characters visible on a terminal, even across chunks', async () => {
  const pieces = [...Buffer.from(cells)].map((byte) => Uint8Array.of(byte));
  expect(await written(pieces, true)).toBe('Zoë,\\u001b[2J\\u009b31m\\u202e\n');
});

it.each([
  [
    { level: 'warn', attemptId: 'at-17', people: 10, httpStatus: 500, msg: 'a call failed' },
    'warning: a call failed (attemptId "at-17", people 10, httpStatus 500)',
  ],
  [
    { level: 'error', err: { name: 'Error', message: 'reset', stack: 'at x' }, msg: 'the poll failed' },
    'error: the poll failed (reset)',
  ],
  [{ level: 'info', msg: 'started' }, 'started'],
])('describeLogLine() turns a log line into a sentence with the facts of the line: %j', (line, sentence) => {
  const json = JSON.stringify({ time: '2026-11-22T12:03:44.123Z', ...line });
  expect(describeLogLine(json)).toBe(`12:03:44 ${sentence}`);
});
