import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/settings.ts';
import { openWarehouse } from '../../db/database.ts';
import { runningPostgres } from '../../dev/postgres.ts';
import { embeddedDirectories } from '../../dev/stack.ts';
import { Problem } from '../../domain/problem.ts';
import { measurePrune } from '../../privacy/prune.ts';
import { ok, type Finding } from './finding.ts';

/** Size of the folder for embedded state, and what `enrich prune` would free. Starts no server. */
export async function checkDisk(config: Config): Promise<Finding[]> {
  const { dataDirectory } = config.embedded;
  const { postgres } = embeddedDirectories(dataDirectory);
  const size = existsSync(dataDirectory)
    ? `${dataDirectory} has ${megabytes(sizeOf(dataDirectory))}, of them ${megabytes(sizeOf(postgres))} the database`
    : `${dataDirectory} does not exist yet`;
  return [ok('disk', `${size}; ${await prunable(config, postgres)}`)];
}

async function prunable(config: Config, postgres: string): Promise<string> {
  if (Object.keys(config.retention).length === 0) return 'RETENTION is not set: enrich prune removes nothing';
  const databaseUrl = config.databaseUrl ?? runningPostgres(postgres);
  if (databaseUrl === undefined) return 'enrich prune shows what it would free';
  const warehouse = openWarehouse(databaseUrl);
  try {
    const { answers, deliveries, quarantine, staging } = await measurePrune(warehouse, config.retention);
    const bytes = answers.bytes + deliveries.bytes + quarantine.bytes;
    return `enrich prune would free ${megabytes(bytes)} of bodies and the cells of ${staging.rows} staged rows`;
  } catch (error) {
    if (error instanceof Problem) throw error;
    return 'the database does not tell what enrich prune would free';
  } finally {
    await warehouse.close();
  }
}

/** Bytes of the files in a folder and below it. Files that go meanwhile, or cannot be read, count nothing. */
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
  return bytes < 1_000_000_000 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
