import type { Readable } from 'node:stream';
import { describeErrorCode, Problem, UsageProblem } from '../domain/problem.ts';
import type * as AmazonS3 from '@aws-sdk/client-s3';

export interface S3Settings {
  /** URL of a store that is compatible with S3. Undefined means Amazon S3. */
  readonly endpoint: string | undefined;
}

/** Opens an S3 client for `use`, with Amazon's standard credential chain. The slow library is loaded only here. */
export async function withS3Client<Result>(
  settings: S3Settings,
  use: (client: AmazonS3.S3Client, sdk: typeof AmazonS3) => Promise<Result>,
): Promise<Result> {
  // The SDK's warning about future versions of Node.js is for developers, not for users of `enrich`.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    // Amazon finds a bucket by its host name. Compatible stores often have one host name for all buckets.
    ...(settings.endpoint !== undefined && { endpoint: settings.endpoint, forcePathStyle: true }),
    // Some compatible stores do not support the checksums that the SDK adds by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    // Two attempts are enough, because the caller retries the whole download.
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 15_000, requestTimeout: 60_000 },
  });
  try {
    return await use(client, sdk);
  } finally {
    client.destroy();
  }
}

/** What a caller does with S3: read an export, or write an output. Errors name the matching rights. */
const access = {
  export: { refused: 'S3 does not give it out', rights: 's3:GetObject, s3:ListBucket' },
  output: {
    refused: 'S3 does not take it',
    rights: 's3:PutObject, s3:AbortMultipartUpload; of a folder also s3:GetObject, s3:ListBucket',
  },
} as const;

/** Turns an error of S3 into a Problem. @param shown URL for the error @returns undefined if a retry can help */
export function toS3Problem(error: unknown, shown: string, kind: keyof typeof access): Problem | undefined {
  const { name, message, $metadata } = error as {
    name?: string;
    message?: string;
    $metadata?: { httpStatusCode?: number };
  };
  const usage = (type: string, what: string, next: string): Problem =>
    new UsageProblem(`${kind}.${type}`, what, { where: shown, next, cause: error });
  const status = $metadata?.httpStatusCode;
  if (name === 'NoSuchBucket' || name === 'NoSuchKey' || status === 404)
    return usage(
      'missing',
      'there is no such bucket or object',
      'check bucket and key, and the region (AWS_REGION)',
    );
  const hasCredentials = name !== 'CredentialsProviderError' && name !== 'TokenProviderError';
  if (!hasCredentials || message === 'Region is missing')
    return usage(
      'no-credentials',
      `no ${hasCredentials ? 'region' : 'credentials'} for S3 found`,
      'set AWS_REGION, and AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY or AWS_PROFILE; or give the machine a role',
    );
  if (status !== undefined && status >= 300 && status < 500 && status !== 408 && status !== 429)
    return usage(
      'refused',
      `${access[kind].refused} (${name ?? status})`,
      `check the key, the credentials and their rights (${access[kind].rights}), and the region (AWS_REGION)`,
    );
  return undefined;
}

/** Turns the error of a request without an answer into a Problem. @param shown URL for the error */
export function s3Unreachable(error: unknown, shown: string, kind: keyof typeof access): Problem {
  const { name, code } = error as { name?: string; code?: string };
  return new Problem(`${kind}.unreachable`, `S3 does not answer: ${describeErrorCode(code ?? name)}`, {
    where: shown,
    next: 'check the connection, AWS_REGION and AWS_ENDPOINT_URL',
    cause: error,
  });
}

/** Size of an upload's parts. S3 accepts 10,000 parts, so a file has at most 160 GB. */
const partSize = 16 * 1024 * 1024;

/** Writes an object in S3, which readers see when complete. @throws Problem `output.*`, or the error of `bytes` */
export async function writeS3Object(
  bytes: Readable,
  { bucket, key }: { readonly bucket: string; readonly key: string },
  settings: S3Settings,
): Promise<void> {
  await withS3Client(settings, async (client) => {
    const { Upload } = await import('@aws-sdk/lib-storage');
    const params = { Bucket: bucket, Key: key, Body: bytes };
    try {
      // Without `leavePartsOnError`, a failed upload is aborted. Amazon would charge for parts that stay.
      await new Upload({ client, params, partSize, queueSize: 1 }).done();
    } catch (error) {
      if (bytes.errored) throw bytes.errored;
      const shown = `s3://${bucket}/${key}`;
      throw toS3Problem(error, shown, 'output') ?? s3Unreachable(error, shown, 'output');
    }
  });
}

/** Reads an object in S3 as text. @returns undefined if the object does not exist @throws Problem `output.*` */
export async function readS3Text(
  { bucket, key }: { readonly bucket: string; readonly key: string },
  settings: S3Settings,
): Promise<string | undefined> {
  return withS3Client(settings, async (client, sdk) => {
    try {
      const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: key }));
      return await Body!.transformToString();
    } catch (error) {
      if ((error as Error).name === 'NoSuchKey') return undefined;
      const shown = `s3://${bucket}/${key}`;
      throw toS3Problem(error, shown, 'output') ?? s3Unreachable(error, shown, 'output');
    }
  });
}
