import type * as AmazonS3 from '@aws-sdk/client-s3';
import { asS3Problem, s3Unreachable, withS3Client, type S3Settings } from './s3-client.ts';

/** S3 accepts 10,000 parts, so a file has at most 160 GB. At most two parts are in memory. */
const partBytes = 16 * 1024 * 1024;

/**
 * Writes an object of S3. A reader gets either the former object or the complete new one. An object that fits into one
 * part needs one request.
 *
 * @param signal ends the writing, and removes the parts that were sent
 * @throws Problem `output.*`; the reason of the signal
 */
export async function writeS3Object(
  bytes: AsyncIterable<Uint8Array>,
  { bucket, key }: { readonly bucket: string; readonly key: string },
  settings: S3Settings,
  signal: AbortSignal,
): Promise<void> {
  const object = { Bucket: bucket, Key: key };
  const shown = `s3://${bucket}/${key}`;
  await withS3Client(settings, async (client, sdk) => {
    const asked = async <Answer>(request: Promise<Answer>): Promise<Answer> =>
      request.catch((error: unknown) => {
        signal.throwIfAborted();
        throw asS3Problem(error, shown, 'output') ?? s3Unreachable(error, shown, 'output');
      });
    const until = { abortSignal: signal };
    let upload: Upload | undefined;
    try {
      for await (const { part, isLast } of partsOf(bytes)) {
        if (isLast && upload === undefined)
          return void (await asked(client.send(new sdk.PutObjectCommand({ ...object, Body: part }), until)));
        upload ??= await asked(begin());
        if (part.length === 0) continue;
        const PartNumber = upload.parts.length + 1;
        const { ETag } = await asked(
          client.send(
            new sdk.UploadPartCommand({ ...object, UploadId: upload.id, PartNumber, Body: part }),
            until,
          ),
        );
        upload.parts.push({ ETag, PartNumber });
      }
      const finished = { ...object, UploadId: upload!.id, MultipartUpload: { Parts: upload!.parts } };
      await asked(client.send(new sdk.CompleteMultipartUploadCommand(finished), until));
    } catch (error) {
      // Amazon charges for the parts of an incomplete upload.
      if (upload)
        await client
          .send(new sdk.AbortMultipartUploadCommand({ ...object, UploadId: upload.id }))
          .catch(() => {});
      throw error;
    }

    async function begin(): Promise<Upload> {
      const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(object), until);
      return { id: UploadId, parts: [] };
    }
  });
}

interface Upload {
  readonly id: string | undefined;
  readonly parts: AmazonS3.CompletedPart[];
}

/** Splits the bytes into parts; the last part can be empty. */
async function* partsOf(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly part: Uint8Array; readonly isLast: boolean }> {
  let chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    length += chunk.length;
    if (length < partBytes) continue;
    yield { part: Buffer.concat(chunks), isLast: false };
    [chunks, length] = [[], 0];
  }
  yield { part: Buffer.concat(chunks), isLast: true };
}
