import { expect, vi } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { checkOutput } from '../outputs/output-schemas.ts';
import { withSession } from '../../../src/cli/session/session.ts';
import { readConfig } from '../../../src/config/settings.ts';

interface Written {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Where {
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** The command that currently runs in this process, and the test that began the command. */
let running: { readonly test: string | undefined; readonly ended: Promise<unknown> } | undefined;

/**
 * Runs `enrich` in this process, from the sources: a separate process takes a second of processor time to start. Runs
 * only one command at a time, because it replaces the streams, the working directory and the environment.
 */
export async function runHere(parameters: readonly string[], where: Where): Promise<Written> {
  const { currentTestName: test } = expect.getState();
  if (running && running.test === test)
    throw new Error('another command runs in this process: use a separate process');
  await interruptHere();
  const ended = run(parameters, where);
  running = { test, ended };
  try {
    return await ended;
  } finally {
    running = undefined;
  }
}

/**
 * Ends a command that a test has left running, such as a test that timed out: the tests of all later files use this
 * process.
 */
export async function interruptHere(): Promise<void> {
  if (!running) return;
  process.emit('SIGTERM', 'SIGTERM');
  await running.ended.catch(() => {});
}

async function run(parameters: readonly string[], { environment, directory }: Where): Promise<Written> {
  const outer = {
    directory: process.cwd(),
    environment: { ...process.env },
    exitCode: process.exitCode,
  };
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((chunk, ...more: unknown[]) => {
      written[stream] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      const done = more.at(-1);
      if (typeof done === 'function') process.nextTick(done);
      return true;
    }),
  );
  process.chdir(directory);
  Object.assign(process.env, environment);
  process.exitCode = undefined;
  try {
    await runProgram(parameters);
    const ended = { code: exitCode(), ...written };
    checkOutput(parameters, ended);
    return ended;
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.chdir(outer.directory);
    for (const name of Object.keys(environment)) {
      const value = outer.environment[name];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    process.exitCode = outer.exitCode;
  }
}

function exitCode(): number {
  return Number(process.exitCode ?? 0);
}

export interface WorkerHere {
  /** Stops the worker after its calls in flight, as SIGTERM does. */
  stop(): Promise<void>;
}

/**
 * Starts a worker and the receiver of late results in this process, from the sources and with the workflows of dist. A
 * separate process takes three seconds of processor time to start.
 *
 * @param environment settings; Temporal must be the embedded one, or there is no receiver
 */
export function startWorkerHere(environment: Readonly<Record<string, string>>): Promise<WorkerHere> {
  // The worker writes no log, because the lines would be among the output of a command that runs in this process.
  const config = readConfig({ ...environment, LOG_LEVEL: 'silent' });
  return new Promise((resolve, reject) => {
    const ended = withSession(config, { temporal: true, service: true }, async (session) => {
      await session.work();
      await new Promise<void>((stop) =>
        resolve({
          stop: () => {
            stop();
            return ended;
          },
        }),
      );
    });
    ended.catch(reject);
  });
}
