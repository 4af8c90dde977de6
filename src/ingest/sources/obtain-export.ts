import type { Readable } from 'node:stream';
import type { Pool } from 'pg';
import { UsageProblem } from '../../domain/problem.ts';
import type { S3Settings } from '../../files/s3-client.ts';
import { download, type RemoteExport } from './download.ts';
import { changedExportProblem, hashExport } from '../reading/export-bytes.ts';
import { parseAddress, type ExportAddress } from './export-address.ts';
import { withHttpExport } from './http-export.ts';
import { rowsOfQuery } from './query-rows.ts';
import { withS3Export } from './s3-objects.ts';
import { removeStagedFile, writeStaged, type StagedContent } from './staging-directory.ts';

/** What is needed to get an export that is not a file on this machine. */
export interface ExportAccess {
  readonly stagingDirectory: string;
  readonly s3: S3Settings;
  readonly pool?: Pool | undefined;
  readonly standardInput?: Readable | undefined;
  readonly maxBytes?: number | undefined;
  /** Pauses before the retries of a download, in milliseconds. */
  readonly retryPauses?: readonly number[] | undefined;
}

/** Makes an export available on this machine. The caller owns the staged file. @throws Problem `export.*` */
export async function obtainExport(
  address: ExportAddress,
  access: ExportAccess,
  signal?: AbortSignal,
): Promise<StagedContent> {
  const { pool, standardInput } = access;
  const write = (content: AsyncIterable<Uint8Array>): Promise<StagedContent> =>
    writeStaged(access.stagingDirectory, content, address.shown, access.maxBytes);
  const fetchRemote = (remote: RemoteExport): Promise<StagedContent> =>
    download(remote, write, signal, access.retryPauses);
  switch (address.kind) {
    case 'file':
      return { path: address.path, sha256: await hashExport(address.path, signal) };
    case 'http':
      return withHttpExport(address, fetchRemote);
    case 's3':
      return withS3Export(access.s3, address, fetchRemote);
    case 'query':
      if (!pool) throw new Error('rows are read from a database');
      return write(rowsOfQuery(pool, address.sql, signal));
    case 'standard-input':
      if (!standardInput) throw new Error('standard input is not available here');
      return write(standardInput as AsyncIterable<Buffer>);
  }
}

/** Finds a run's export, or downloads it again with the same hash. @param options.fetched the downloaded file */
export async function findExportContent(
  run: { readonly filePath: string; readonly fileSha256: string },
  access: ExportAccess,
  options: { readonly signal?: AbortSignal | undefined; readonly fetched?: string | undefined } = {},
): Promise<string> {
  const address = parseAddress(run.filePath, '/');
  if (address.kind === 'file') return address.path;
  if (options.fetched !== undefined) return options.fetched;
  if (!address.canBeFetchedAgain)
    throw new UsageProblem('export.gone', 'the export cannot be fetched again from here', {
      where: address.shown,
      next: 'run the command again that began the run, with the same export; nothing was paid',
    });
  const { path, sha256 } = await obtainExport(address, access, options.signal);
  if (sha256 === run.fileSha256) return path;
  await removeStagedFile(path);
  throw changedExportProblem(address.shown);
}
