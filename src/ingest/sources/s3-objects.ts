import type * as AmazonS3 from '@aws-sdk/client-s3';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { asS3Problem, s3Unreachable, withS3Client, type S3Settings } from '../../files/s3-client.ts';
import type { RemoteExport } from './download.ts';
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
      open: async (abortSignal) => {
        const request = new this.#sdk.GetObjectCommand({ Bucket: address.bucket, Key: address.key });
        const answer = await this.#client.send(request, { abortSignal }).catch((error: unknown) => {
          throw asS3Problem(error, shown, 'export') ?? error;
        });
        return {
          etag: answer.ETag,
          bytes: answer.ContentLength,
          body: answer.Body as unknown as AsyncIterable<Uint8Array>,
        };
      },
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

function tooMany(shown: string): Problem {
  return new UsageProblem('export.too-many', `more than ${mostObjects} objects have this prefix`, {
    where: shown,
    next: 'give the exports a prefix of their own, with {date} in it, or narrow the pattern',
  });
}
