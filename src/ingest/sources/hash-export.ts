import { createHash } from 'node:crypto';
import { fileState, readStoredBytes } from '../reading/file-bytes.ts';

/**
 * The content of an export in one line: what a run is bound to. Reads the file once, with flat memory.
 *
 * @returns SHA-256 in hexadecimal of the file as it is stored (packed, where it is gzip), and its size
 * @throws Problem `export.missing`, `export.not-a-file`, `export.unreadable`, `export.empty`
 */
export async function hashExport(
  path: string,
  signal?: AbortSignal,
): Promise<{ sha256: string; bytes: number }> {
  await fileState(path);
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of readStoredBytes(path, signal)) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}
