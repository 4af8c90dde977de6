import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';

type Decompressor = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const [inflateWrapped, inflateBare] = [promisify(inflate), promisify(inflateRaw)];

/** HTTP demands the header of zlib, and some servers leave it out: its first half byte is always 8. */
const inflateEither: Decompressor = (body, options) =>
  ((body[0] ?? 0) & 0x0f) === 8 ? inflateWrapped(body, options) : inflateBare(body, options);

const decompressors: Readonly<Record<string, Decompressor>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: inflateEither,
  br: promisify(brotliDecompress),
  identity: (body) => Promise.resolve(body),
};

/**
 * Decompresses a body of the service, of an answer or a delivery.
 *
 * @param contentEncoding the header: no, one or several codings, in the order in which they were applied
 * @param maxOutputLength bytes: a small body can expand to gigabytes
 * @throws Error for an unknown coding and for bytes that are not in the coding; with the code ERR_BUFFER_TOO_LARGE for
 *   a result above the limit
 */
export async function decompress(
  body: Buffer,
  contentEncoding: string | undefined,
  maxOutputLength: number,
): Promise<Buffer> {
  const codings = (contentEncoding ?? '').split(',').map((coding) => coding.trim().toLowerCase());
  let decompressed = body;
  for (const coding of codings.filter((each) => each !== '').reverse()) {
    const decompressor = decompressors[coding];
    if (!decompressor) throw new Error('an unknown content coding');
    decompressed = await decompressor(decompressed, { maxOutputLength });
  }
  return decompressed;
}
