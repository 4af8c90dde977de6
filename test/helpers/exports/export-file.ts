import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../system/temporary-folder.ts';

/** Writes export files into a folder that is removed after the tests of the file. */
export function exportFiles(): (content: string | Uint8Array, name?: string) => string {
  const directory = temporaryFolder();
  let count = 0;
  return (content, name = `contacts-${(count += 1)}.csv`) => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };
}

/** Bytes of a text in an encoding that TextDecoder knows, and whose characters are one or two bytes. */
export function inEncoding(text: string, encoding: string): Buffer {
  const bytesOf = bytesByCharacter(encoding);
  return Buffer.concat(
    Array.from(text).map((character) => {
      const bytes = bytesOf.get(character);
      if (bytes === undefined) throw new Error(`${encoding} has no ${character}`);
      return bytes;
    }),
  );
}

const tables = new Map<string, Map<string, Buffer>>();

function bytesByCharacter(encoding: string): Map<string, Buffer> {
  const known = tables.get(encoding);
  if (known) return known;
  const table = new Map<string, Buffer>();
  // As a stream: of a whole buffer, Node 20 decodes windows-1252 as if it were latin1.
  const textOf = (bytes: Buffer): string => new TextDecoder(encoding).decode(bytes, { stream: true });
  const add = (bytes: Buffer): void => {
    const text = textOf(bytes);
    if (Array.from(text).length === 1 && text !== '\ufffd' && !table.has(text)) table.set(text, bytes);
  };
  for (let byte = 0; byte < 256; byte += 1) add(Buffer.from([byte]));
  for (let first = 0x81; first < 256; first += 1) {
    const isFirstOfTwo = textOf(Buffer.from([first])) === '';
    if (isFirstOfTwo) for (let second = 0x40; second < 256; second += 1) add(Buffer.from([first, second]));
  }
  tables.set(encoding, table);
  return table;
}
