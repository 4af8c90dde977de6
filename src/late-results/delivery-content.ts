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
/** Decompressed; far above any result of ten people. A bomb ends here, and not in memory. */
const longestBody = 8 * 1_048_576;

/**
 * What a stored delivery says, decompressed.
 *
 * @returns undefined where it cannot be understood
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
