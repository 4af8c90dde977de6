import { Problem, UsageProblem } from '../../domain/problem.ts';
import { asS3Problem, s3Unreachable, withS3Client, type S3Settings } from '../../files/s3-client.ts';
import type { RemoteExport } from './download.ts';
import type { ExportAddress } from './export-address.ts';

type S3Address = Extract<ExportAddress, { kind: 's3' }>;

export interface S3Object {
  readonly key: string;
  readonly etag: string | undefined;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** Maximum number of listed objects; a prefix with more objects is no folder of exports. */
const mostObjects = 100_000;

/** The objects of S3, or of a compatible store. */
export interface S3Store {
  /**
   * All objects whose key has the prefix.
   *
   * @throws Problem `export.*`
   */
  list(bucket: string, prefix: string): Promise<S3Object[]>;
  /** One object, for the download. */
  object(address: S3Address): RemoteExport;
}

/** Opens the store for the duration of `use`. */
export function withS3<Result>(
  settings: S3Settings,
  use: (store: S3Store) => Promise<Result>,
): Promise<Result> {
  return withS3Client(settings, (client, sdk) =>
    use({
      list: async (Bucket, Prefix) => {
        const shown = `s3://${Bucket}/${Prefix}`;
        const objects: S3Object[] = [];
        const pages = sdk.paginateListObjectsV2({ client }, { Bucket, Prefix });
        try {
          for await (const { Contents = [] } of pages) {
            for (const { Key, ETag, LastModified, Size } of Contents) {
              if (Key !== undefined && Size !== 0)
                objects.push({ key: Key, etag: ETag, modified: LastModified?.getTime() ?? 0 });
            }
            if (objects.length > mostObjects) throw tooMany(shown);
          }
        } catch (error) {
          if (error instanceof Problem) throw error;
          throw asS3Problem(error, shown, 'export') ?? s3Unreachable(error, shown, 'export');
        }
        return objects;
      },
      object: ({ bucket, key, shown }) => ({
        shown,
        open: async (abortSignal) => {
          const request = new sdk.GetObjectCommand({ Bucket: bucket, Key: key });
          const answer = await client.send(request, { abortSignal }).catch((error: unknown) => {
            throw asS3Problem(error, shown, 'export') ?? error;
          });
          return {
            etag: answer.ETag,
            bytes: answer.ContentLength,
            body: answer.Body as unknown as AsyncIterable<Uint8Array>,
          };
        },
      }),
    }),
  );
}

function tooMany(shown: string): Problem {
  return new UsageProblem('export.too-many', `more than ${mostObjects} objects have this prefix`, {
    where: shown,
    next: 'give the exports a prefix of their own, with {date} in it, or narrow the pattern',
  });
}
