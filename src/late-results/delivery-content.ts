import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { readLateResult, type LateResult } from '../service/answers/late-result.ts';

const decompressors: Readonly<
  Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>
> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};
/** Maximum decompressed bytes, far above any result of ten people: it stops decompression bombs. */
const longestBody = 8 * 1_048_576;

/**
 * Decompresses and reads a stored delivery.
 *
 * @returns undefined if it cannot be read
 */
export async function contentOf(delivery: {
  readonly body: Buffer;
  readonly contentEncoding: string | null;
}): Promise<LateResult | undefined> {
  const encoding = delivery.contentEncoding?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity')
    return readLateResult(delivery.body);
  const body = await decompressors[encoding]?.(delivery.body, { maxOutputLength: longestBody }).catch(
    () => undefined,
  );
  return body && readLateResult(body);
}
