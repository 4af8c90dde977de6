import { readLateResult, type LateResult } from '../service/answers/late-result.ts';
import { decompress } from '../service/content-coding.ts';

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
  const body = await decompress(delivery.body, delivery.contentEncoding ?? undefined, longestBody).catch(
    () => undefined,
  );
  return body && readLateResult(body);
}
