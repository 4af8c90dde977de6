import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Client as Agent } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client, Connection } from '@temporalio/client';
import { afterAll } from 'vitest';
import { readConfig } from '../../../src/config/settings.ts';
import type { RunFacts } from '../../../src/contract/run-facts.ts';
import { processStartTime } from '../../../src/dev/presence.ts';
import { acquireStack, type Stack } from '../../../src/dev/stack.ts';
import { sampleExport } from '../../../src/sandbox/sample-export.ts';
import { defaultApiKey } from '../../../src/sandbox/server.ts';
import { startSandbox, type RunningSandbox, type SandboxOptions } from '../../../src/sandbox/server.ts';
import { openWarehouse } from '../../../src/db/database.ts';
import { checkOutput } from '../outputs/output-schemas.ts';
import { interruptHere, runHere, startWorkerHere, type WorkerHere } from './run-here.ts';
import { createTestDatabase } from '../database/database.ts';
import { testWarehouse, type TestWarehouse } from '../database/test-warehouse.ts';
import { expectRebuildEqual } from '../database/contents.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

export interface EndedCommand {
  /** Exit code; null: killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The last line of standard output, parsed as JSON. */
  facts(): RunFacts;
}

/** A command that runs beside the test. */
export interface RunningCommand {
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Exit code; null: killed. */
  readonly ended: Promise<number | null>;
  /** Standard output and standard error so far. */
  readonly output: () => string;
}

/** Sandbox, database and embedded Temporal of one test file, and the binary as a user runs it. */
export class TestSystem {
  readonly directory = mkdtempSync(join(tmpdir(), 'enrich-system-'));
  readonly sandbox: RunningSandbox;
  readonly warehouse: TestWarehouse;
  readonly databaseUrl: string;
  readonly #environment: Record<string, string>;
  #stack: Stack | undefined;
  readonly #held: Stack[] = [];
  #worker: WorkerHere | undefined;
  #workerSettings: Record<string, string> = {};
  #client: Promise<Client> | undefined;
  #samples = 0;
  readonly #begun = new Set<ChildProcess>();

  constructor(sandbox: RunningSandbox, databaseUrl: string) {
    this.sandbox = sandbox;
    this.databaseUrl = databaseUrl;
    this.warehouse = testWarehouse(openWarehouse(databaseUrl, { connections: 2 }));
    this.#environment = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      ...(process.env['TEMPORAL_CLI_PATH'] && { TEMPORAL_CLI_PATH: process.env['TEMPORAL_CLI_PATH'] }),
      ...(process.env['XDG_CACHE_HOME'] && { XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'] }),
      ENRICH_DATA_DIR: join(this.directory, 'state'),
      DATABASE_URL: databaseUrl,
      ENRICHMENT_BASE_URL: sandbox.baseUrl,
      ENRICHMENT_API_KEY: defaultApiKey,
    };
  }

  /**
   * Starts Temporal for all commands of a test, as `enrich dev` does: otherwise each command starts and stops it.
   *
   * @param options.worker starts a worker for the whole file; otherwise each `enrich run` has its own worker
   * @param options.temporalOnDisk for tests that kill Temporal or read its files; in memory it takes less time
   */
  static async open({
    worker = false,
    temporalOnDisk = false,
    ...options
  }: SandboxOptions & { worker?: boolean; temporalOnDisk?: boolean } = {}): Promise<TestSystem> {
    const sandbox = await startSandbox({ rateLimits: 'unlimited', ...options });
    const system = new TestSystem(sandbox, await createTestDatabase());
    const temporal = temporalOnDisk ? true : 'in memory';
    system.#stack = await acquireStack(readConfig(system.#environment), { temporal }, () => {});
    if (worker) await system.startWorker();
    return system;
  }

  /** Opens the system of a test file, at the top of the file, and closes it after the last test. */
  static async ofFile(options: Parameters<typeof TestSystem.open>[0] = {}): Promise<TestSystem> {
    const system = await TestSystem.open(options);
    afterAll(() => system.close());
    return system;
  }

  /**
   * Starts a worker with a receiver in this process for the runs of all later commands. Stops an earlier worker with
   * other settings; a worker with these settings continues. A command with its own worker takes four times the
   * processor time.
   *
   * @param settings with `sharedTemporal()`, the worker has no receiver
   */
  async startWorker(settings: Record<string, string> = {}): Promise<void> {
    if (this.#worker && isDeepStrictEqual(settings, this.#workerSettings)) return;
    await this.stopWorker();
    this.#worker = await startWorkerHere({ ...this.#environment, ...settings });
    this.#workerSettings = settings;
    Object.assign(this.#environment, this.sharedTemporal());
  }

  /** Stops the worker; later commands then start their own. */
  async stopWorker(): Promise<void> {
    await this.#worker?.stop();
    this.#worker = undefined;
    delete this.#environment['TEMPORAL_ADDRESS'];
  }

  /**
   * Writes an export with other invented people in each call, because the tests of a file share a system.
   *
   * @param seed seed of the people, for a test that needs certain ones
   * @returns path of the export
   */
  sample(people: number, seed?: number): string {
    this.#samples += 1;
    const file = join(this.directory, `contacts-${this.#samples}.csv`);
    writeFileSync(file, [...sampleExport({ people, seed: seed ?? this.#samples })].join(''));
    return file;
  }

  /** Runs `enrich` to its end. Standard input is no terminal, and has the given text or nothing. */
  async enrich(
    parameters: readonly string[],
    environment: Record<string, string> = {},
    input = '',
  ): Promise<EndedCommand> {
    const ended = await this.#toItsEnd([process.execPath, main, ...parameters], environment, input);
    checkOutput(parameters, ended);
    return ended;
  }

  /**
   * Runs `enrich` to its end in this process (see `runHere`), with this system's Temporal as the server: a run needs
   * the worker of the system.
   */
  here(parameters: readonly string[], environment: Record<string, string> = {}): Promise<EndedCommand> {
    return this.hereAlone(parameters, { ...this.sharedTemporal(), ...environment });
  }

  /**
   * Runs `enrich` like `here`, but with an embedded Temporal: a command that continues a run has a worker of its own,
   * in this process.
   */
  async hereAlone(
    parameters: readonly string[],
    environment: Record<string, string> = {},
  ): Promise<EndedCommand> {
    return withFacts(
      await runHere(parameters, {
        environment: { ...this.#environment, ...environment },
        directory: this.directory,
      }),
    );
  }

  /** Runs a shell line in which `$ENRICH` is the command, for redirections, pipes and binary data. */
  shell(line: string, environment: Record<string, string> = {}): Promise<EndedCommand> {
    return this.#toItsEnd(['sh', '-c', line], { ...environment, ENRICH: `${process.execPath} ${main}` }, '');
  }

  #toItsEnd(
    [command, ...parameters]: readonly [string, ...string[]],
    environment: Record<string, string>,
    input: string,
  ): Promise<EndedCommand> {
    return new Promise((resolve, reject) => {
      const child = spawn(command, parameters, {
        cwd: this.directory,
        env: { ...this.#environment, ...environment },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      // Writing fails if the command ends before it has read its input.
      child.stdin.on('error', () => {}).end(input);
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (text) => (stdout += String(text)));
      child.stderr.on('data', (text) => (stderr += String(text)));
      child.on('error', reject);
      child.on('close', (code) => resolve(withFacts({ code, stdout, stderr })));
    });
  }

  /** Starts `enrich` in the background. */
  begin(parameters: readonly string[], environment: Record<string, string> = {}): RunningCommand {
    const child = spawn(process.execPath, [main, ...parameters], {
      cwd: this.directory,
      env: { ...this.#environment, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (text) => (output += String(text)));
    child.stderr.on('data', (text) => (output += String(text)));
    this.#begun.add(child);
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
    child.on('close', () => this.#begun.delete(child));
    return { kill: (signal) => child.kill(signal), ended, output: () => output };
  }

  /** Starts `enrich mcp` with a client of the protocol, as an agent has one. Closing the client ends the command. */
  async agent(settings: Record<string, string> = {}): Promise<Agent> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [main, 'mcp'],
      cwd: this.directory,
      env: { ...this.#environment, ...settings },
      stderr: 'ignore',
    });
    const agent = new Agent({ name: 'agent of a test', version: '1' });
    await agent.connect(transport);
    return agent;
  }

  /** Stops, continues or kills the Temporal server of this system. @returns its process id */
  signalTemporal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): number {
    const record = readFileSync(join(this.directory, 'state', 'temporal', 'server.json'), 'utf8');
    const { pid } = JSON.parse(record) as { pid: number };
    process.kill(pid, signal);
    return pid;
  }

  /** Kills the Temporal server of this system and restarts it with the same data and address. */
  async restartTemporal(): Promise<void> {
    const pid = this.signalTemporal('SIGKILL');
    while (processStartTime(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
    const stack = await acquireStack(readConfig(this.#environment), { temporal: true }, () => {});
    await this.#stack?.release();
    this.#stack = stack;
  }

  /** Returns Temporal's database and log as text. The system needs `temporalOnDisk`. */
  temporalFiles(): string[] {
    const directory = join(this.directory, 'state', 'temporal');
    const names = readdirSync(directory);
    if (!names.includes('temporal.db')) throw new Error('this system has Temporal in memory');
    return names.map((name) => readFileSync(join(directory, name), 'latin1'));
  }

  /** Starts the embedded servers of commands with these settings, and keeps them until the system closes. */
  async holdServersOf(settings: Record<string, string>): Promise<void> {
    const config = readConfig({ ...this.#environment, ...settings });
    this.#held.push(await acquireStack(config, { temporal: 'in memory', sandbox: true }, () => {}));
  }

  /** Returns a client of the Temporal server of this system, which connects once. */
  temporal(): Promise<Client> {
    this.#client ??= Connection.connect({ address: this.#stack!.temporal.address }).then(
      (connection) => new Client({ connection }),
    );
    return this.#client;
  }

  /** Returns a workflow's history as text, as Temporal stores it, without search attributes. */
  async storedHistory(workflowId: string): Promise<string> {
    const { events } = await (await this.temporal()).workflow.getHandle(workflowId).fetchHistory();
    return JSON.stringify(events, (name, value: unknown) =>
      name === 'searchAttributes' ? undefined : value,
    );
  }

  /** Terminates a workflow, as an operator does in the Temporal UI. */
  async terminateWorkflow(workflowId: string): Promise<void> {
    await (await this.temporal()).workflow.getHandle(workflowId).terminate('by a test');
  }

  /**
   * Runs `enrich` on a terminal and types an answer to each of its questions, in turn: `y\n`, `n\n`, Ctrl-C as
   * `\u0003`. Kills the command at a question without an answer.
   *
   * @returns exit code (null: killed), and the whole output
   */
  answerPrompts(
    parameters: readonly string[],
    ...answers: readonly string[]
  ): Promise<{ code: number | null; shown: string }> {
    const command = [process.execPath, main, ...parameters].map((word) => `'${word}'`).join(' ');
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: this.directory,
      env: this.#environment,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let shown = '';
    let answered = 0;
    child.stdout.on('data', (text) => {
      shown += String(text);
      for (const asked = shown.split('[y/N] ').length - 1; answered < asked; answered += 1) {
        const answer = answers[answered];
        if (answer === undefined) child.kill('SIGKILL');
        else child.stdin.write(answer);
      }
    });
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, shown })));
  }

  /** Settings with which commands use the Temporal of this system as a server, with separate workers. */
  sharedTemporal(): Record<string, string> {
    return { TEMPORAL_ADDRESS: this.#stack!.temporal.address };
  }

  /** Stops all processes, after a check that a rebuild from the log gives the same warehouse. */
  async close(): Promise<void> {
    // Only a failed test leaves processes, which would wait for their servers forever.
    for (const child of this.#begun) child.kill('SIGKILL');
    await interruptHere();
    await this.stopWorker();
    try {
      await expectRebuildEqual(this.warehouse);
    } finally {
      await (await this.#client)?.connection.close();
      for (const stack of [this.#stack, ...this.#held]) await stack?.release();
      await this.warehouse.close();
      await this.sandbox.close();
      rmSync(this.directory, { recursive: true, force: true });
    }
  }
}

/** Adds up counts, such as the outcomes of a run. */
export function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function withFacts(ended: Omit<EndedCommand, 'facts'>): EndedCommand {
  return {
    ...ended,
    facts: () => {
      const line = ended.stdout.trim().split('\n').at(-1) ?? '';
      if (!line.startsWith('{'))
        throw new Error(`no JSON on standard output; standard error:\n${ended.stderr}`);
      return JSON.parse(line) as RunFacts;
    },
  };
}
