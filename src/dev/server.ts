import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../files/make-folder.ts';
import { portTakenProblem, Problem } from '../domain/problem.ts';
import { processStartTime, isRunning, type ProcessIdentity } from './presence.ts';

export interface ServerPorts {
  readonly port: number;
  readonly uiPort?: number;
}

/** The record in a server's folder by which other commands find the server. */
export interface ServerRecord extends ProcessIdentity, ServerPorts {}

export interface Command {
  readonly command: string;
  readonly arguments: readonly string[];
}

export const serverNames = {
  postgres: 'the embedded PostgreSQL',
  temporal: 'the Temporal dev server',
  sandbox: 'the sandbox',
} as const;
export type ServerType = keyof typeof serverNames;

/** How to run a server. Errors name its `portSettings`, and `otherwise` is the next step if it does not start. */
export interface ServerDefinition {
  readonly type: ServerType;
  readonly directory: string;
  readonly startSeconds: number;
  readonly portSettings: string;
  /** Ports by the settings. 0 chooses a free one. */
  readonly fixedPorts: ServerPorts;
  /** Runs before each start, for example to create the data directory. */
  prepare?(): Promise<void>;
  command(ports: ServerPorts): Promise<Command & { environment: NodeJS.ProcessEnv }>;
  isReady(server: ServerRecord): Promise<boolean>;
  readonly otherwise: string;
}

/** Type of the error if an earlier server has not ended yet. A later try can then succeed. */
const stillEnding = 'server.still-ending';

/** Starts the server of a folder, or finds the running one. The caller must exclude other callers for the folder. */
export async function provideServer(definition: ServerDefinition): Promise<ServerRecord> {
  const { directory, fixedPorts } = definition;
  const running = runningRecord(directory);
  if (running) return running;
  // A killed server can take seconds to end, and another program can take the chosen port before the server listens.
  const deadline = performance.now() + 15_000;
  for (;;) {
    try {
      makeFolder(directory);
      await definition.prepare?.();
      return await startOnPorts(definition, await choosePorts(definition));
    } catch (error) {
      const type = error instanceof Problem ? error.type : undefined;
      const isPassing = type === stillEnding || (type === 'port.taken' && fixedPorts.port === 0);
      if (!isPassing || performance.now() > deadline) throw error;
      await sleep(200);
    }
  }
}

/** Stops the server of a folder, if one runs, without loss of data. */
export async function stopServer(directory: string): Promise<void> {
  const running = runningRecord(directory);
  if (running) await stopProcess(running);
}

/** Reads the record of the last start. Its server may have ended. */
export function readRecord(directory: string): ServerRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordFile(directory), 'utf8')) as ServerRecord;
  } catch {
    return undefined;
  }
}

export function runningRecord(directory: string): ServerRecord | undefined {
  const record = readRecord(directory);
  return record !== undefined && isRunning(record) ? record : undefined;
}

/** Makes the error for a server that did not start, from its log. @param ended how its process ended */
export function explainFailure(
  definition: ServerDefinition,
  log: string,
  ended: string,
  ports?: ServerPorts,
): Problem {
  const { directory, type, otherwise, portSettings } = definition;
  const name = serverNames[type];
  const lines = log.trim().split('\n').slice(-12);
  const cause = new Error(lines.join('\n'));
  if (ports && /could not bind|address already in use|EADDRINUSE|is taken|can't set \w+ port/i.test(log)) {
    const taken = Object.values(ports).join(' or ');
    return portTakenProblem(taken, name, portSettings, `unset ${portSettings} to use free ports`, cause);
  }
  const refusal = `${name} refuses to run as root, and root cannot become "nobody" here`;
  if (/^setpriv: |spawn setpriv/m.test(`${log}\n${ended}`))
    return new Problem('postgres.root', refusal, {
      where: directory,
      next: 'run the command as an ordinary user, or set DATABASE_URL to a PostgreSQL of yours, 15 or later',
      cause,
    });
  const fatal = /^.*(?:PANIC|FATAL):\s*(.+)$/m.exec(log)?.[1];
  const isEnding = /lock file "postmaster.pid" already exists|pre-existing shared memory block/.test(log);
  return new Problem(
    isEnding ? stillEnding : `${type}.start`,
    `${name} did not start (${ended}): ${fatal ?? lines.at(-1)}`,
    { where: join(directory, 'server.log'), next: `read that log; ${otherwise}`, cause },
  );
}

/** Finds a port of this machine on which no program listens. @param preferred port to choose if it is free */
export async function freePort(preferred = 0): Promise<number> {
  const server = createServer().listen({ port: preferred, host: '127.0.0.1', exclusive: true });
  try {
    await once(server, 'listening');
  } catch {
    return freePort();
  }
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function recordFile(directory: string): string {
  return join(directory, 'server.json');
}

/** Chooses ports. Without a setting, a server keeps the port of its last start, so that URLs stay valid. */
async function choosePorts({ directory, fixedPorts }: ServerDefinition): Promise<ServerPorts> {
  const previous = readRecord(directory);
  const port = fixedPorts.port || (await freePort(previous?.port));
  if (fixedPorts.uiPort === undefined) return { port };
  return { port, uiPort: fixedPorts.uiPort || (await freePort(previous?.uiPort)) };
}

/** Starts a server and waits until it is ready; otherwise stops it. @throws Problem */
async function startOnPorts(definition: ServerDefinition, ports: ServerPorts): Promise<ServerRecord> {
  const { directory, startSeconds } = definition;
  const log = join(directory, 'server.log');
  const server = spawnServer(await definition.command(ports), directory, log);
  const record = { pid: server.pid, start: server.start, ...ports };
  let isStarted = false;
  try {
    if (server.pid > 0) writeRecord(directory, record);
    const deadline = performance.now() + startSeconds * 1000;
    while (server.ended() === undefined && performance.now() < deadline && !isStarted) {
      isStarted = (await definition.isReady(record)) && server.ended() === undefined;
      if (!isStarted) await sleep(20);
    }
  } finally {
    if (!isStarted) await stopProcess(server);
  }
  if (isStarted) return record;
  const ended = server.ended() ?? `no answer in ${startSeconds} s`;
  throw explainFailure(definition, readFileSync(log, 'utf8').slice(-100_000), ended, ports);
}

/** Starts a server in a session of its own, so that Ctrl-C in this terminal does not end a server that others use. */
function spawnServer(
  { command, arguments: parameters, environment }: Command & { environment: NodeJS.ProcessEnv },
  directory: string,
  logFile: string,
): ProcessIdentity & { ended(): string | undefined } {
  if (existsSync(logFile)) renameSync(logFile, `${logFile}.previous`);
  const log = openSync(logFile, 'a', 0o600);
  try {
    const child = spawn(command, parameters, {
      cwd: directory,
      env: environment,
      detached: true,
      stdio: ['ignore', log, log],
    });
    let ending: string | undefined;
    child.once('error', (error) => (ending = error.message));
    child.once(
      'exit',
      (code, signal) => (ending = signal === null ? `exit code ${code}` : `signal ${signal}`),
    );
    child.unref();
    const start = child.pid === undefined ? undefined : processStartTime(child.pid);
    return { pid: child.pid ?? 0, start: start ?? 'never', ended: () => ending };
  } finally {
    closeSync(log);
  }
}

/** Writes the record by a rename, so that other commands read a complete one. */
function writeRecord(directory: string, record: ServerRecord): void {
  const file = recordFile(directory);
  writeFileSync(`${file}.tmp`, JSON.stringify(record), { mode: 0o600 });
  renameSync(`${file}.tmp`, file);
}

/** Signals to stop a server, and seconds to wait. The first lets it close its data; the others kill one that hangs. */
const stopSignals = [
  ['SIGINT', 20],
  ['SIGQUIT', 5],
  ['SIGKILL', 5],
] as const;

/** Stops a process, by ever stronger signals. @throws Problem `server.stop` */
async function stopProcess(server: ProcessIdentity): Promise<void> {
  for (const [signal, seconds] of stopSignals) {
    if (!isRunning(server)) return;
    try {
      process.kill(server.pid, signal);
    } catch {
      // The server has ended, or belongs to another user.
    }
    const deadline = performance.now() + seconds * 1000;
    while (isRunning(server) && performance.now() < deadline) await sleep(20);
  }
  if (!isRunning(server)) return;
  throw new Problem('server.stop', 'an embedded server cannot be stopped', {
    where: `process ${server.pid}`,
    next: 'end that process, then run the same command again',
  });
}
