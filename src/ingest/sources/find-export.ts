import { readdir, stat } from 'node:fs/promises';
import { posix, basename, dirname, join } from 'node:path';
import type { ExportChoice } from '../../contract/run-input.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { formatLocalDate } from '../../domain/text/time-zone.ts';
import type { S3Settings } from '../../files/s3-client.ts';
import { parseAddress, type ExportAddress } from './export-address.ts';
import { listObjects } from './s3-objects.ts';

export interface FoundExport {
  readonly address: ExportAddress;
  /** Milliseconds since 1970. Undefined if unknown. */
  readonly modified?: number | undefined;
}

/** Finds a schedule's exports: all for `every-new`, the oldest first; otherwise at most one. Skips incomplete files. */
export async function findExports(
  choice: ExportChoice,
  asOf: Date,
  timezone: string,
  access: { readonly s3: S3Settings },
): Promise<FoundExport[]> {
  const from = choice.from.replaceAll('{date}', formatLocalDate(timezone, asOf));
  if (choice.kind === 'query') return [{ address: parseAddress(`query:${from}`, '/') }];
  const address = parseAddress(from, '/');
  if (choice.kind === 'file') return [{ address }];
  requireValidPattern(address);
  const found =
    address.kind === 'file'
      ? await matchingFiles(address.path)
      : address.kind === 's3'
        ? await matchingObjects(address, access.s3)
        : [{ address, modified: 0 }];
  // By time, then by name, so that dates and numbers of equal width in names are in order.
  found.sort(
    (one, other) => one.modified - other.modified || (one.address.text < other.address.text ? -1 : 1),
  );
  return choice.kind === 'every-new' ? found : found.slice(-1);
}

/** Refuses a pattern in a folder, or in a web URL, which cannot be listed. @throws Problem `export.pattern` */
export function requireValidPattern(address: ExportAddress): void {
  const refuse = (what: string, next: string): never => {
    throw new UsageProblem('export.pattern', what, { where: address.shown, next });
  };
  if (address.kind === 'http' && address.shown.includes('*'))
    refuse('a web address cannot be a pattern', 'name it in full; {date} may stand in it for the date');
  if (address.kind !== 'http' && /[*?]/.test(dirname(address.text)))
    refuse(
      'only the name of the file may hold * and ?',
      'name the folder in full, such as /exports/hubspot-*.csv; {date} may stand in it for the date',
    );
}

type DatedExport = FoundExport & { readonly modified: number };

/** Matches names of hidden files, and of files that are still being written. */
const unfinished = /^\.|\.(?:part|tmp|crdownload)$/i;

/** Lists the files of a folder whose name fits, with their time of change. */
async function matchingFiles(pattern: string): Promise<DatedExport[]> {
  const folder = dirname(pattern);
  const fits = namePattern(basename(pattern));
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw new UsageProblem('export.folder-unreadable', 'the folder of the exports cannot be read', {
      where: folder,
      next: 'check the path, and that the worker can read it: the worker searches for the export',
      cause: error,
    });
  });
  const files: DatedExport[] = [];
  for (const entry of entries) {
    if (entry.isDirectory() || !fits(entry.name)) continue;
    const path = join(folder, entry.name);
    // A file whose name is not UTF-8 is listed, and refused when it is opened.
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() ?? true)
      files.push({ address: parseAddress(path, '/'), modified: found?.mtimeMs ?? 0 });
  }
  return files;
}

/** Finds objects in S3. As in a folder, `*` does not match `/`. */
async function matchingObjects(
  { bucket, key: pattern }: Extract<ExportAddress, { kind: 's3' }>,
  settings: S3Settings,
): Promise<DatedExport[]> {
  const fits = namePattern(posix.basename(pattern));
  const folder = pattern.slice(0, pattern.lastIndexOf('/') + 1);
  const objects = await listObjects(settings, bucket, pattern.split(/[*?]/)[0]!);
  return objects
    .filter(({ key }) => !key.slice(folder.length).includes('/') && fits(key.slice(folder.length)))
    .map(({ key, modified }) => ({ address: parseAddress(`s3://${bucket}/${key}`, '/'), modified }));
}

/** Compiles a pattern in which only `*` and `?` are special: downloads have names such as `contacts (1).csv`. */
function namePattern(glob: string): (name: string) => boolean {
  const escaped = glob.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  const pattern = new RegExp(`^${escaped.replace(/\*+/g, '.*').replaceAll('?', '.')}$`, 'su');
  return (name) => pattern.test(name) && !unfinished.test(name);
}
