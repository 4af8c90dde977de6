import { pipeline } from 'node:stream/promises';
import { visible } from '../../domain/text/visible.ts';

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Writes lines to standard output as fast as the reader takes them, so that memory does not grow with their number. A
 * reader that closes the pipe early (`| head -3`) ends the writing without an error.
 */
export async function writeLines(lines: AsyncIterable<string>): Promise<void> {
  await writeBytes(withLineEnds(lines));
}

/** As `writeLines`, for bytes of text. A terminal gets control characters as text, because it would obey them. */
export async function writeBytes(bytes: Bytes, output: NodeJS.WriteStream = process.stdout): Promise<void> {
  const shown = output.isTTY ? withVisibleText(bytes) : bytes;
  await pipeline(shown, output, { end: false }).catch(ignoreClosedPipe);
}

/** Ignores a pipe that the reader closed, and rethrows every other error. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncIterable<Uint8Array> {
  for await (const line of lines) yield Buffer.from(`${line}\n`);
}

async function* withVisibleText(bytes: Bytes): AsyncIterable<Uint8Array> {
  const decoder = new TextDecoder();
  for await (const piece of bytes) yield Buffer.from(visible(decoder.decode(piece, { stream: true })));
  yield Buffer.from(visible(decoder.decode()));
}
