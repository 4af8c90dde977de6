import type * as AmazonS3 from '@aws-sdk/client-s3';
import { Problem, exitCodes } from '../../domain/problem.ts';
import type { RemoteExport, RemotePart } from './download.ts';
import { addressText, type ExportAddress } from './export-address.ts';

type S3Address = Extract<ExportAddress, { kind: 's3' }>;

export interface S3Settings {
  /** Of a store that is compatible with S3; undefined: Amazon's own. */
  readonly endpoint: string | undefined;
}

export interface S3Object {
  readonly key: string;
  readonly etag: string | undefined;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** Listed to find the newest: a folder that holds more is no folder of exports. */
const mostObjects = 100_000;

/** The objects of S3, or of a store that is compatible with it. Who we are is found by Amazon's standard chain. */
export class S3Store {
  readonly #client: AmazonS3.S3Client;
  readonly #sdk: typeof AmazonS3;

  constructor(client: AmazonS3.S3Client, sdk: typeof AmazonS3) {
    this.#client = client;
    this.#sdk = sdk;
  }

  /**
   * All objects whose key begins so.
   *
   * @throws Problem `export.*`
   */
  async list(bucket: string, prefix: string): Promise<S3Object[]> {
    const shown = `s3://${bucket}/${prefix}`;
    const objects: S3Object[] = [];
    let token: string | undefined;
    do {
      const page = await this.#client
        .send(
          new this.#sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token }),
        )
        .catch((error: unknown) => {
          throw asProblem(error, shown) ?? unreachable(error, shown);
        });
      for (const { Key, ETag, LastModified, Size } of page.Contents ?? []) {
        if (Key !== undefined && Size !== 0)
          objects.push({ key: Key, etag: ETag, modified: LastModified?.getTime() ?? 0 });
      }
      if (objects.length > mostObjects) throw tooMany(shown);
      token = page.NextContinuationToken;
    } while (token !== undefined);
    return objects;
  }

  /** One object, to be fetched. */
  object(address: S3Address): RemoteExport {
    const shown = addressText(address);
    return {
      shown,
      open: async (from, etag, signal) => {
        const range = from > 0 && etag !== undefined ? { Range: `bytes=${from}-`, IfMatch: etag } : {};
        try {
          return await this.#get(address, range, signal);
        } catch (error) {
          const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
          // Another version lies there since, or a shorter one: from the beginning.
          const changed = $metadata?.httpStatusCode === 412 || name === 'InvalidRange';
          if (from > 0 && changed) return await this.#get(address, {}, signal).catch(refuse(shown));
          return refuse(shown)(error);
        }
      },
    };
  }

  async #get(
    { bucket, key }: S3Address,
    range: { Range?: string; IfMatch?: string },
    abortSignal: AbortSignal,
  ): Promise<RemotePart> {
    const answer = await this.#client.send(
      new this.#sdk.GetObjectCommand({ Bucket: bucket, Key: key, ...range }),
      { abortSignal },
    );
    const [, start, whole] = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.ContentRange ?? '') ?? [];
    return {
      from: start === undefined ? 0 : Number(start),
      etag: answer.ETag,
      bytes: whole === undefined ? answer.ContentLength : Number(whole),
      body: answer.Body as unknown as AsyncIterable<Uint8Array>,
    };
  }
}

/**
 * Opens the store for as long as it is used. Amazon's library is loaded here and not before: a command that needs none
 * of it starts without.
 */
export async function withS3<Result>(
  settings: S3Settings,
  use: (store: S3Store) => Promise<Result>,
): Promise<Result> {
  // The SDK's warning about later Node versions is for developers, not for users of the command.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client({
    // Amazon finds the bucket by the name of its host; compatible stores often have one name for all.
    ...(settings.endpoint !== undefined && { endpoint: settings.endpoint, forcePathStyle: true }),
    // Of ours, around the whole of a transfer, there are more.
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 15_000, requestTimeout: 60_000 },
  });
  try {
    return await use(new S3Store(client, sdk));
  } finally {
    client.destroy();
  }
}

function refuse(shown: string): (error: unknown) => never {
  return (error) => {
    throw asProblem(error, shown) ?? error;
  };
}

/** What asking again will not change. */
function asProblem(error: unknown, shown: string): Problem | undefined {
  const { name, message, $metadata } = error as {
    name?: string;
    message?: string;
    $metadata?: { httpStatusCode?: number };
  };
  const usage = (type: string, what: string, next: string): Problem =>
    new Problem(type, what, { where: shown, next, exitCode: exitCodes.usage, cause: error });
  if (name === 'NoSuchBucket') return usage('export.missing', 'there is no such bucket', 'check its name');
  if (name === 'NoSuchKey' || $metadata?.httpStatusCode === 404)
    return usage('export.missing', 'there is no such object', 'check its key, and the region (AWS_REGION)');
  if (name === 'CredentialsProviderError' || name === 'TokenProviderError') {
    return usage(
      'export.no-credentials',
      'no credentials for S3 are found',
      'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or give the machine a role',
    );
  }
  if (message === 'Region is missing')
    return usage('export.no-region', 'the region of the bucket is not known', 'set AWS_REGION');
  const status = $metadata?.httpStatusCode;
  if (status !== undefined && status >= 300 && status < 500 && status !== 408 && status !== 429) {
    return usage(
      'export.refused',
      `S3 does not give it out (${name ?? status})`,
      'check the key, the credentials and their rights (s3:GetObject, s3:ListBucket), and the region (AWS_REGION)',
    );
  }
  return undefined;
}

function unreachable(error: unknown, shown: string): Problem {
  const { name, code } = error as { name?: string; code?: string };
  return new Problem('export.unreachable', `S3 does not answer (${code ?? name ?? 'unknown'})`, {
    where: shown,
    next: 'check the connection, AWS_REGION and AWS_ENDPOINT_URL',
    cause: error,
  });
}

function tooMany(shown: string): Problem {
  return new Problem('export.too-many', `more than ${mostObjects} objects begin so`, {
    where: shown,
    next: 'give the exports a prefix of their own, with {date} in it, or narrow the pattern',
    exitCode: exitCodes.usage,
  });
}
