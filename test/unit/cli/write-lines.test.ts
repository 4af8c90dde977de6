import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { writeBytes } from '../../../src/cli/terminal/write-lines.ts';

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
