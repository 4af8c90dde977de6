import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';

type Decompressor = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const unzip = promisify(gunzip);
const [inflateWrapped, inflateBare] = [promisify(inflate), promisify(inflateRaw)];

const isZipped = (body: Buffer): boolean => body.length >= 2 && body.readUInt16BE() === 0x1f8b;

/** Some proxies decompress a body and leave the header, or repeat the header: gzip always begins with 1f 8b. */
const unzipIfZipped: Decompressor = (body, options) =>
  body.length < 2 || isZipped(body) ? unzip(body, options) : Promise.resolve(body);

/** HTTP demands the zlib format, whose first byte has 8 as its low half; some servers send the bare data. */
const inflateEither: Decompressor = (body, options) =>
  ((body[0] ?? 0) & 0x0f) === 8 ? inflateWrapped(body, options) : inflateBare(body, options);

const decompressors: Readonly<Record<string, Decompressor>> = {
  gzip: unzipIfZipped,
  'x-gzip': unzipIfZipped,
  deflate: inflateEither,
  br: promisify(brotliDecompress),
};

/**
 * Decompresses a body of the service, of an answer or a delivery.
 *
 * @param contentEncoding the header: no, one or several codings, in the order in which they were applied
 * @param maxOutputLength bytes: a small body can expand to gigabytes
 * @returns the body; an unknown coding is left as it is, because some servers name the character set (`utf-8`) or no
 *   coding (`none`)
 * @throws Error for bytes that are not in the coding; with the code ERR_BUFFER_TOO_LARGE for a result above the limit
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
    if (decompressor) decompressed = await decompressor(decompressed, { maxOutputLength });
  }
  // Some proxies remove the header and leave the coding. No JSON begins with the bytes of gzip.
  return isZipped(decompressed) ? unzip(decompressed, { maxOutputLength }) : decompressed;
}
