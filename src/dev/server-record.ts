import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Problem } from '../domain/problem.ts';
import { isRunning, type ProcessIdentity } from './processes.ts';

const schema = z.object({
  pid: z.number().int().positive(),
  start: z.string(),
  port: z.number().int(),
  uiPort: z.number().int().exactOptional(),
});

/** The ports of a server on 127.0.0.1. */
export interface ServerPorts {
  readonly port: number;
  /** The UI of the Temporal dev server. */
  readonly uiPort?: number;
}

/** The record of a server, by which the next command finds it. */
export interface ServerRecord extends ProcessIdentity, ServerPorts {}

const fileName = 'server.json';

/** @throws Problem `disk.full` */
export function writeRecord(directory: string, record: ServerRecord): void {
  const file = join(directory, fileName);
  try {
    writeFileSync(`${file}.tmp`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${file}.tmp`, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    throw new Problem('disk.full', 'the disk is full: the record of an embedded server cannot be written', {
      where: directory,
      next: 'free disk space, then run the same command again; nothing is lost',
      cause: error,
    });
  }
}

/** The record of the last started server, whether it runs or not; undefined: there is no readable record. */
export function readRecord(directory: string): ServerRecord | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(join(directory, fileName), 'utf8')));
  } catch {
    return undefined;
  }
}

/** The record, if its process is alive. */
export function runningRecord(directory: string): ServerRecord | undefined {
  const record = readRecord(directory);
  return record !== undefined && isRunning(record) ? record : undefined;
}
