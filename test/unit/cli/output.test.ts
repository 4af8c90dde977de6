import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { asTyped, beginOutput, describeLogLine, writeBytes } from '../../../src/cli/terminal/output.ts';
import { rendered } from '../../../src/cli/terminal/layout.ts';

it.each([
  ['', 'enrich status latest', 'enrich status latest'],
  ['exec', 'next: enrich status latest; enrich runs', 'next: npx enrich status latest; enrich runs'],
  ['run-script', 'npx enrich status of /tmp/enrich status', 'npx enrich status of /tmp/enrich status'],
])('asTyped() names the program as the user can type it (npm_command=%s): %s', (npm, hint, shown) => {
  vi.stubEnv('npm_command', npm);
  onTestFinished(() => void vi.unstubAllEnvs());
  beginOutput(['status', 'run']);
  expect(asTyped(hint)).toBe(shown);
});

const cells = 'Zoë,\u001b[2J\u009b31m\u202e\n';

async function written(pieces: readonly Uint8Array[], isTTY: boolean): Promise<string> {
  const output = Object.assign(new PassThrough(), { isTTY });
  await writeBytes(pieces, output as unknown as NodeJS.WriteStream);
  output.end();
  return text(output);
}

it('writeBytes() shows control characters of rows as text on a terminal, wherever pieces end', async () => {
  const pieces = [...Buffer.from(cells)].map((byte) => Uint8Array.of(byte));
  expect(await written(pieces, true)).toBe('Zoë,\\u001b[2J\\u009b31m\\u202e\n');
});

it('writeBytes() leaves rows unchanged for a program', async () => {
  expect(await written([Buffer.from(cells)], false)).toBe(cells);
});

const shown = (line: object): string =>
  rendered(describeLogLine(JSON.stringify({ time: '2026-11-22T12:03:44.123Z', ...line })), {
    isTTY: false,
  } as NodeJS.WriteStream);

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
