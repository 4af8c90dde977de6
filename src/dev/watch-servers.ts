import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../domain/problem.ts';
import { isRunning } from './processes.ts';
import { readRecord, runningRecord, type ServerRecord } from './server-record.ts';

/** An embedded server that a command uses. */
export interface WatchedServer<Part extends string> {
  readonly part: Part;
  /** As a sentence names it. */
  readonly name: string;
  readonly directory: string;
}

export interface Watch<Part extends string> {
  readonly servers: readonly WatchedServer<Part>[];
  /** Restarts a server at the same address, or finds the one that another command has restarted. */
  readonly restart: (part: Part) => Promise<void>;
  /** Called once if a server cannot be started again. The watch ends then. */
  readonly onLost: (problem: Problem) => void;
  readonly onStep: (text: string) => void;
  readonly signal: AbortSignal;
}

const watchMilliseconds = 1_000;
/** If a server ends more often in one command, another start does not remove the cause. */
const mostRestarts = 3;

/** Restarts servers that end while a command uses them. Clients and workers wait for their server without a limit. */
export async function watchServers<Part extends string>(watch: Watch<Part>): Promise<void> {
  const { servers, onLost, signal } = watch;
  try {
    await Promise.all(servers.map((server) => watchServer(server, watch)));
  } catch (error) {
    if (!signal.aborted) onLost(error as Problem);
  }
}

async function watchServer<Part extends string>(
  server: WatchedServer<Part>,
  { restart, onStep, signal }: Watch<Part>,
): Promise<void> {
  const { directory, name, part } = server;
  let known = readRecord(directory);
  for (let restarts = 0; ;) {
    await sleep(watchMilliseconds, undefined, { ref: false, signal }).catch(() => undefined);
    if (signal.aborted) return;
    if (known && isRunning(known)) continue;
    const found: ServerRecord | undefined = runningRecord(directory);
    if (found && found.port === known?.port) {
      known = found;
      continue;
    }
    restarts += 1;
    if (restarts > mostRestarts) throw lost(server, `ended ${restarts} times`);
    onStep(`The ${name} ended: starting it again`);
    try {
      await restart(part);
    } catch (error) {
      throw lost(server, `ended and cannot be started again: ${(error as Error).message}`, error);
    }
    known = readRecord(directory);
  }
}

function lost({ name, directory }: WatchedServer<string>, what: string, cause?: unknown): Problem {
  const again = `run the same command again: it starts the ${name} and continues`;
  const advice = cause instanceof Problem ? cause.next : undefined;
  const isComplete = advice?.includes('run the same command again') === true;
  const next = isComplete ? advice : [...(advice === undefined ? [] : [advice]), again].join('; then ');
  return new Problem('server.lost', `the ${name} ${what}`, { where: directory, next, cause });
}
