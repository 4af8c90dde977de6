import type { Readable } from 'node:stream';
import type * as AmazonS3 from '@aws-sdk/client-s3';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { asS3Problem, s3Unreachable, withS3Client, type S3Settings } from '../../files/s3-client.ts';
import type { RemoteExport, RemotePart } from './download.ts';
import { addressText, type ExportAddress } from './export-address.ts';

type S3Address = Extract<ExportAddress, { kind: 's3' }>;

export interface S3Object {
  readonly key: string;
  readonly etag: string | undefined;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** Maximum number of listed objects; a prefix with more objects is no folder of exports. */
const mostObjects = 100_000;

/** The objects of S3, or of a compatible store. Amazon's standard chain finds the credentials. */
export class S3Store {
  readonly #client: AmazonS3.S3Client;
  readonly #sdk: typeof AmazonS3;

  constructor(client: AmazonS3.S3Client, sdk: typeof AmazonS3) {
    this.#client = client;
    this.#sdk = sdk;
  }

  /**
   * All objects whose key has the prefix.
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
          throw asS3Problem(error, shown, 'export') ?? s3Unreachable(error, shown, 'export');
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

  /** One object, for the download. */
  object(address: S3Address): RemoteExport {
    const shown = addressText(address);
    return {
      shown,
      open: async (from, etag, signal) => {
        const range = from > 0 && etag !== undefined ? { Range: `bytes=${from}-`, IfMatch: etag } : {};
        try {
          const part = await this.#get(address, range, signal);
          if (part.from === 0 || part.etag === undefined || part.etag === etag) return part;
          // A store that ignores the version has sent a part of another one: starts again from the beginning.
          (part.body as unknown as Readable).on('error', () => {}).destroy();
          return await this.#get(address, {}, signal);
        } catch (error) {
          const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
          // The object has another version, or is shorter: starts again from the beginning.
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

/** Opens the store for the duration of `use`. */
export function withS3<Result>(
  settings: S3Settings,
  use: (store: S3Store) => Promise<Result>,
): Promise<Result> {
  return withS3Client(settings, (client, sdk) => use(new S3Store(client, sdk)));
}

function refuse(shown: string): (error: unknown) => never {
  return (error) => {
    throw asS3Problem(error, shown, 'export') ?? error;
  };
}

function tooMany(shown: string): Problem {
  return new UsageProblem('export.too-many', `more than ${mostObjects} objects have this prefix`, {
    where: shown,
    next: 'give the exports a prefix of their own, with {date} in it, or narrow the pattern',
  });
}
