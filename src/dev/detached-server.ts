import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../files/make-folder.ts';
import { Problem } from '../domain/problem.ts';
import { isRunning, spawnDetached, stopProcess, type ProcessIdentity } from './processes.ts';
import {
  readRecord,
  runningRecord,
  writeRecord,
  type ServerPorts,
  type ServerRecord,
} from './server-record.ts';

/** Signals that ask a server to end, in order, each with the seconds to wait after it. */
export type StopSteps = readonly (readonly [signal: NodeJS.Signals, seconds: number])[];

/** How to find, start and stop a server. */
export interface ServerDefinition {
  /** The name of the server in a sentence, such as `PostgreSQL`. */
  readonly name: string;
  /** Folder of the record, the log and the data of the server. */
  readonly directory: string;
  /** Longest time from the start to the first answer. */
  readonly startSeconds: number;
  readonly stop: StopSteps;
  /** A setting names a port, so the server must not take another one. */
  readonly portsAreFixed: boolean;
  choosePorts(previous: ServerPorts | undefined): Promise<ServerPorts>;
  command(ports: ServerPorts): {
    command: string;
    arguments: readonly string[];
    environment: NodeJS.ProcessEnv;
  };
  /** `silent`: the server does not answer correctly, and waiting does not help. */
  probe(ports: ServerPorts): Promise<'ready' | 'starting' | 'silent'>;
  /** Why the server did not start, from the end of its log. */
  explain(log: string, context: { ended: string; ports: ServerPorts }): Problem;
  /** Finds a running server whose record is lost. */
  findStray?(): ServerRecord | undefined;
}

/** A server that does not answer gets less time than a server that has to end its sessions. */
const endSilent: StopSteps = [
  ['SIGINT', 3],
  ['SIGQUIT', 2],
  ['SIGKILL', 5],
];

/** Type of the Problem of a server whose predecessor in the same folder has not ended yet. */
export const stillEnding = 'server.still-ending';

/**
 * Finds the server of a folder that runs and answers. Ends a server that runs and does not answer.
 *
 * @returns undefined if no server runs
 */
export async function findServer(
  definition: ServerDefinition,
  onStep: (text: string) => void,
): Promise<ServerRecord | undefined> {
  const { directory, name } = definition;
  const record = runningRecord(directory) ?? definition.findStray?.();
  if (record === undefined) return undefined;
  const deadline = performance.now() + definition.startSeconds * 1000;
  while (isRunning(record) && performance.now() < deadline) {
    const state = await definition.probe(record);
    if (state === 'ready') {
      writeRecord(directory, record);
      return record;
    }
    if (state === 'silent') break;
    await sleep(50);
  }
  if (isRunning(record)) {
    onStep(`The ${name} left by an earlier command does not answer (process ${record.pid}): replacing it`);
    await endServer(definition, record, endSilent);
  }
  return undefined;
}

/**
 * Starts a server that continues after this process, and waits until it answers.
 *
 * @throws Problem that the definition makes of the log
 */
export async function startServer(definition: ServerDefinition): Promise<ServerRecord> {
  makeFolder(definition.directory);
  // The child processes of a killed server may end some time after the server.
  const endedBy = performance.now() + 15_000;
  // Another program can take a port after the port was chosen and before the server uses it. Then another port is
  // chosen.
  for (let attempt = 1; ;) {
    const previous = attempt === 1 ? readRecord(definition.directory) : undefined;
    const ports = await definition.choosePorts(previous);
    try {
      return await startOnPorts(definition, ports);
    } catch (error) {
      const type = error instanceof Problem ? error.type : undefined;
      if (type === stillEnding && performance.now() < endedBy) {
        await sleep(200);
        continue;
      }
      if (type !== 'port.taken' || definition.portsAreFixed || attempt === 4) throw error;
      attempt += 1;
    }
  }
}

/** Ends the server of a folder, if one runs. */
export async function stopServer(definition: ServerDefinition): Promise<void> {
  const record = runningRecord(definition.directory) ?? definition.findStray?.();
  if (record) await endServer(definition, record, definition.stop);
}

async function startOnPorts(definition: ServerDefinition, ports: ServerPorts): Promise<ServerRecord> {
  const { directory, startSeconds } = definition;
  const logFile = join(directory, 'server.log');
  const server = spawnDetached({ ...definition.command(ports), directory, logFile });
  const record: ServerRecord = { pid: server.pid, start: server.start, ...ports };
  try {
    if (server.pid > 0) writeRecord(directory, record);
  } catch (error) {
    // Without its record no command finds the server, and it would run forever.
    await endServer(definition, server, endSilent);
    throw error;
  }
  const deadline = performance.now() + startSeconds * 1000;
  while (server.ended() === undefined && performance.now() < deadline) {
    if ((await definition.probe(ports)) === 'ready' && server.ended() === undefined) return record;
    await sleep(20);
  }
  await endServer(definition, server, endSilent);
  throw definition.explain(endOfLog(directory, logFile), {
    ended: server.ended() ?? `no answer in ${startSeconds} s`,
    ports,
  });
}

async function endServer(
  definition: ServerDefinition,
  server: ProcessIdentity,
  steps: StopSteps,
): Promise<void> {
  if (server.pid <= 0 || (await stopProcess(server, steps))) return;
  throw new Problem('server.stop', `the ${definition.name} cannot be stopped`, {
    where: `process ${server.pid}`,
    next: 'end that process, then run the same command again',
  });
}

/** On a full disk the server cannot write the reason to its log either. */
function endOfLog(directory: string, logFile: string): string {
  const log = existsSync(logFile) ? readFileSync(logFile, 'utf8').slice(-100_000) : '';
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < 64 * 1024 ? `${log}\nNo space left on device` : log;
}
