import { existsSync, lstatSync, readdirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/settings.ts';
import { attention, broken, ok, type Finding } from './finding.ts';

/** PostgreSQL and Temporal cannot start, or stop in the middle of a run. */
const fewestFreeBytes = 50_000_000;
const fewFreeBytes = 500_000_000;

/** Size of the folder for embedded state, and the free space of its disk. */
export function checkDisk(config: Config): Finding[] {
  const {
    dataDirectory,
    directories: { postgres },
  } = config.embedded;
  const size = existsSync(dataDirectory)
    ? `${dataDirectory} has ${megabytes(sizeOf(dataDirectory))}, the database in it ${megabytes(sizeOf(postgres))}`
    : `${dataDirectory} does not exist yet`;
  const free = freeBytes(dataDirectory);
  const here =
    config.databaseUrl === undefined ? '' : ' on this machine (the disk of DATABASE_URL is not checked)';
  const kept =
    Object.keys(config.retention).length === 0 ? 'RETENTION is not set: enrich prune removes nothing' : '';
  return [judgeFreeSpace(free, [`${size}, ${megabytes(free)} free${here}`, kept].filter(Boolean).join('; '))];
}

/** @param what is said of the disk */
export function judgeFreeSpace(free: number, what: string): Finding {
  const next = 'free space on the disk, or set ENRICH_DATA_DIR to a folder on a larger disk';
  if (free < fewestFreeBytes) return broken('disk', `the disk is full: ${what}`, next);
  return free < fewFreeBytes ? attention('disk', what, next) : ok('disk', what);
}

/** Free bytes of the disk of a folder, or of the nearest folder above that exists. */
function freeBytes(path: string): number {
  if (!existsSync(path) && dirname(path) !== path) return freeBytes(dirname(path));
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Bytes of a file, or of all files below a folder. Files that vanish or cannot be read count as 0. */
function sizeOf(path: string): number {
  try {
    const entry = lstatSync(path);
    if (!entry.isDirectory()) return entry.size;
    return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
  } catch {
    return 0;
  }
}

function megabytes(bytes: number): string {
  if (bytes < 1_000_000) return `${(bytes / 1e6).toFixed(1)} MB`;
  return bytes < 1_000_000_000 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
