import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Writes lines to standard output as fast as the reader takes them, so that memory does not grow with their number. A
 * reader that closes the pipe early (`| head -3`) ends the writing without an error.
 */
export async function writeLines(lines: AsyncIterable<string>): Promise<void> {
  await pipeline(Readable.from(withLineEnds(lines)), process.stdout, { end: false }).catch(ignoreClosedPipe);
}

/** Ignores a pipe that the reader closed, and rethrows every other error. */
export function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of lines) yield `${line}\n`;
}
