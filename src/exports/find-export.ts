import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ExportChoice } from '../contract.ts';
import { Problem, exitCodes } from '../domain/problem.ts';
import { dateIn } from '../domain/time-zone.ts';

/**
 * The files that a schedule means at a time.
 *
 * A file that is being written has to have another name until it is whole: hidden files, and names that end in `.part`,
 * `.tmp` or `.crdownload`, are never taken by a pattern.
 *
 * @param asOf the time that the schedule stands for; with the time zone it is what `{date}` in the path becomes
 * @returns paths: one for `file`, whether it exists or not; at most one for `newest`; all, oldest first, for `every-new`
 * @throws Problem `export.folder-unreadable`, `export.pattern`
 */
export async function findExports(choice: ExportChoice, asOf: Date, timezone: string): Promise<string[]> {
  const path = choice.path.replaceAll('{date}', dateIn(timezone, asOf));
  if (choice.kind === 'file') return [path];
  const files = await matchingFiles(path);
  if (choice.kind === 'every-new' || choice.by === 'time') files.sort(byTime);
  else files.sort(byName);
  const paths = files.map((file) => file.path);
  return choice.kind === 'every-new' ? paths : paths.slice(-1);
}

/** @throws Problem `export.pattern` where a pattern has `*` or `?` in a folder: only files are looked for */
export function checkPattern(path: string): void {
  if (!/[*?]/.test(dirname(path))) return;
  throw new Problem('export.pattern', 'only the name of the file may hold * and ?', {
    where: path,
    next: 'name the folder in full, such as /exports/hubspot-*.csv; {date} may stand in it for the date',
    exitCode: exitCodes.usage,
  });
}

interface FoundFile {
  readonly path: string;
  readonly modified: number;
}

const unfinished = /^\.|\.(?:part|tmp|crdownload)$/i;

async function matchingFiles(pattern: string): Promise<FoundFile[]> {
  checkPattern(pattern);
  const folder = dirname(pattern);
  const name = namePattern(basename(pattern));
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw new Problem('export.folder-unreadable', 'the folder of the exports cannot be read', {
      where: folder,
      next: 'check the path, and that the worker sees it: it is the worker that looks for the export',
      exitCode: exitCodes.usage,
      cause: error,
    });
  });
  const files: FoundFile[] = [];
  for (const entry of entries) {
    if (entry.isDirectory() || unfinished.test(entry.name) || !name.test(entry.name)) continue;
    const path = join(folder, entry.name);
    // Gone since the folder was read, or a link to nowhere: there is nothing to enrich.
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) files.push({ path, modified: found.mtimeMs });
  }
  return files;
}

function namePattern(glob: string): RegExp {
  const expression = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${expression}$`, 'su');
}

/** By code unit, as names with a date or a number of fixed width sort; the same on every machine. */
function byName(one: FoundFile, other: FoundFile): number {
  if (one.path === other.path) return 0;
  return one.path < other.path ? -1 : 1;
}

function byTime(one: FoundFile, other: FoundFile): number {
  return one.modified - other.modified || byName(one, other);
}
