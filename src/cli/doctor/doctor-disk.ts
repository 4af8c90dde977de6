import { existsSync, lstatSync, readdirSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/settings.ts';
import { openWarehouse } from '../../db/database.ts';
import { runningPostgres } from '../../dev/postgres.ts';
import { counted } from '../../domain/text/counted.ts';
import { Problem } from '../../domain/problem.ts';
import { measurePrune } from '../../privacy/retention/prune.ts';
import { attention, broken, ok, type Finding } from './finding.ts';

/** PostgreSQL and Temporal cannot start, or stop in the middle of a run. */
const fewestFreeBytes = 50_000_000;
const fewFreeBytes = 500_000_000;

/** Size of the folder for embedded state, and what `enrich prune` would remove. Starts no server. */
export async function checkDisk(config: Config): Promise<Finding[]> {
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
  const what = `${size}, ${megabytes(free)} free${here}; ${await prunable(config, postgres)}`;
  return [judgeFreeSpace(free, what)];
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

async function prunable(config: Config, postgres: string): Promise<string> {
  if (Object.keys(config.retention).length === 0) return 'RETENTION is not set: enrich prune removes nothing';
  const databaseUrl = config.databaseUrl ?? runningPostgres(postgres);
  if (databaseUrl === undefined) return 'enrich prune shows what it would remove';
  const warehouse = openWarehouse(databaseUrl);
  try {
    const figures = await measurePrune(warehouse, config.retention);
    const { answers, deliveries, quarantine, staging, rows, observations, changes } = figures;
    const bodies = answers.count + deliveries.count + quarantine.count;
    const bytes = answers.bytes + deliveries.bytes + quarantine.bytes;
    const parts = [
      bodies > 0 && `${counted(bodies, 'body', 'bodies')} (${megabytes(bytes)})`,
      staging.rows > 0 && `the cells of ${counted(staging.rows, 'staged row')}`,
      rows.rows > 0 && `${counted(rows.rows, 'row')} of ended runs`,
      observations.count > 0 && counted(observations.count, 'replaced observation'),
      changes.count > 0 && counted(changes.count, 'change'),
    ].filter((part) => part !== false);
    return parts.length === 0
      ? 'enrich prune would remove nothing'
      : `enrich prune would remove ${parts.join(', ')}; the database then reuses their space`;
  } catch (error) {
    if (error instanceof Problem) throw error;
    return 'the database cannot be asked what enrich prune would remove';
  } finally {
    await warehouse.close();
  }
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
