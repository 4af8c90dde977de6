import { toS3Problem, s3Unreachable, withS3Client, type S3Settings } from '../../files/s3-client.ts';
import type { RemoteExport } from './download.ts';
import type { ExportAddress } from './export-address.ts';

/** Lists the objects whose key has the prefix, in S3 or a compatible store. @throws Problem `export.*` */
export function listObjects(settings: S3Settings, bucket: string, prefix: string) {
  const shown = `s3://${bucket}/${prefix}`;
  return withS3Client(settings, async (client, sdk) => {
    const objects: { readonly key: string; readonly modified: number }[] = [];
    try {
      for await (const page of sdk.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix })) {
        for (const { Key: key, LastModified: modified, Size: size } of page.Contents ?? [])
          if (key !== undefined && size !== 0) objects.push({ key, modified: modified?.getTime() ?? 0 });
      }
    } catch (error) {
      throw toS3Problem(error, shown, 'export') ?? s3Unreachable(error, shown, 'export');
    }
    return objects;
  });
}

/** Opens an export in S3 for the duration of `use`. */
export function withS3Export<Result>(
  settings: S3Settings,
  { bucket, key, shown }: Extract<ExportAddress, { kind: 's3' }>,
  use: (remote: RemoteExport) => Promise<Result>,
): Promise<Result> {
  return withS3Client(settings, (client, sdk) => {
    const open: RemoteExport['open'] = async (abortSignal) => {
      const request = new sdk.GetObjectCommand({ Bucket: bucket, Key: key });
      const answer = await client
        .send(request, { ...(abortSignal && { abortSignal }) })
        .catch((error: unknown) => {
          throw toS3Problem(error, shown, 'export') ?? error;
        });
      return answer.Body as unknown as AsyncIterable<Uint8Array>;
    };
    return use({ shown, open });
  });
}
