import { CommanderError, Help, type Command } from 'commander';
import { asUsageProblem, Command as EnrichCommand, type CommonFlags } from './terminal/command.ts';
import { unknownSettings } from '../config/settings-schema.ts';
import { scopeSignalHandlers } from '../dev/interruption.ts';
import {
  commandAsTyped,
  beginOutput,
  beQuiet,
  reportFailure,
  printProgress,
  write,
} from './terminal/output.ts';
import { version } from '../files/project-file.ts';

type Load = () => Promise<Command>;

/** Commands by the heading under which `enrich --help` lists them. */
const groups: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Runs:': {
    demo: async () => (await import('./commands/demo.ts')).demoCommand(),
    plan: async () => (await import('./commands/run.ts')).planCommand(),
    run: async () => (await import('./commands/run.ts')).runCommand(),
    backfill: async () => (await import('./commands/run.ts')).backfillCommand(),
    approve: async () => (await import('./commands/steer.ts')).approveCommand(),
    status: async () => (await import('./commands/status.ts')).statusCommand(),
    report: async () => (await import('./commands/status.ts')).reportCommand(),
    pause: async () => (await import('./commands/steer.ts')).pauseCommand(),
    resume: async () => (await import('./commands/steer.ts')).resumeCommand(),
    cancel: async () => (await import('./commands/steer.ts')).cancelCommand(),
    undo: async () => (await import('./commands/undo.ts')).undoCommand(),
    schedule: async () => (await import('./commands/schedule.ts')).scheduleCommand(),
  },
  'Credits and calls:': {
    budget: async () => (await import('./commands/budget.ts')).budgetCommand(),
    attempts: async () => (await import('./commands/attempts.ts')).attemptsCommand(),
    inbox: async () => (await import('./commands/attempts.ts')).inboxCommand(),
    usage: async () => (await import('./commands/usage.ts')).usageCommand(),
    match: async () => (await import('./commands/match.ts')).matchCommand(),
  },
  'Warehouse:': {
    export: async () => (await import('./commands/export.ts')).exportCommand(),
    changes: async () => (await import('./commands/export.ts')).changesCommand(),
    sql: async () => (await import('./commands/sql.ts')).sqlCommand(),
    review: async () => (await import('./commands/review.ts')).reviewCommand(),
    rebuild: async () => (await import('./commands/maintenance.ts')).rebuildCommand(),
    prune: async () => (await import('./commands/maintenance.ts')).pruneCommand(),
    migrate: async () => (await import('./commands/maintenance.ts')).migrateCommand(),
  },
  'Privacy:': {
    suppress: async () => (await import('./commands/privacy.ts')).suppressCommand(),
    erase: async () => (await import('./commands/privacy.ts')).eraseCommand(),
  },
  'Set-up and processes:': {
    doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
    dev: async () => (await import('./commands/processes.ts')).devCommand(),
    worker: async () => (await import('./commands/processes.ts')).workerCommand(),
    receiver: async () => (await import('./commands/processes.ts')).receiverCommand(),
    'codec-server': async () => (await import('./commands/processes.ts')).codecServerCommand(),
    sandbox: async () => (await import('./commands/sandbox.ts')).sandboxCommand(),
    mcp: async () => (await import('./commands/mcp.ts')).mcpCommand(),
  },
};

/** Loaders of all commands by name. Each loads its module, because Temporal's worker takes half a second to load. */
export const commandLoaders: ReadonlyMap<string, Load> = new Map(
  Object.entries(groups).flatMap(([heading, commands]) =>
    Object.entries(commands).map(([name, load]): [string, Load] => [
      name,
      async () => (await load()).helpGroup(heading),
    ]),
  ),
);

/** Runs the command that the words name. A failure is printed and becomes the exit code. */
export async function runProgram(parameters: readonly string[]): Promise<void> {
  const endCommand = scopeSignalHandlers();
  beginOutput(commandLoaders.keys());
  const program = emptyProgram();
  const asked = commandLoaders.get(parameters[0] ?? '');
  const isVersionAsked = parameters[0] === '--version' || parameters[0] === '-V';
  // The help, and the suggestion for a misspelt command, need the modules of all commands.
  const needed = asked ? [asked] : isVersionAsked ? [] : commandLoaders.values();
  for (const load of needed) program.addCommand(await load());
  inherit(program);
  // Commander's own `help` command accepts only one name, so `help budget set` becomes `budget set --help`.
  const words = parameters[0] === 'help' ? [...parameters.slice(1), '--help'] : [...parameters];

  // A group such as `enrich budget` without a subcommand shows its help and exits with 0.
  const named =
    words.length === 0 ? program : program.commands.find((command) => command.name() === words[0]);
  if (words.length < 2 && named && named.commands.length > 0) words.push('--help');

  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    const isHelp = error instanceof CommanderError && error.exitCode === 0;
    const failure =
      error instanceof CommanderError ? asUsageProblem(error, nameOfCommand(program, words)) : error;
    if (!isHelp) process.exitCode = reportFailure(failure, words.includes('--json'));
  } finally {
    endCommand();
  }
}

/** Returns the command that the words name, such as `enrich budget set`. */
function nameOfCommand(program: Command, words: readonly string[]): string {
  const names = [program.name()];
  let command: Command | undefined = program;
  for (const word of words.filter((each) => !each.startsWith('-'))) {
    command = command.commands.find((child) => child.name() === word);
    if (command === undefined) break;
    names.push(word);
  }
  return names.join(' ');
}

/** Makes the program without commands, because only the needed ones are loaded. */
function emptyProgram(): Command {
  return new EnrichCommand('enrich')
    .description('Enrich CRM exports into a PostgreSQL warehouse, within rate limits and credit budgets.')
    .examples(`
  enrich demo                    an invented export, at no cost
  enrich plan contacts.csv       people, price and duration; spends nothing
  enrich run contacts.csv        shows the plan, asks, then enriches
  enrich run --help              options of a command, with examples`)
    .explain(`
Settings are environment variables: .env.example explains each.

Without DATABASE_URL, TEMPORAL_ADDRESS and ENRICHMENT_BASE_URL everything runs on this machine, against the sandbox, at
no cost. Each of these settings replaces an embedded component.

With --json, standard output ends in one JSON value on one line: the result, or {"error": …, "exit_code": …}.

Exit codes: 0 done, 1 failed, 2 usage, 3 finished (or paused) with something that needs you,
129, 130 and 143 ended by a signal (SIGHUP, Ctrl-C, SIGTERM) before a run began, or by a second signal.
A first signal pauses a run and the command ends with 3 (reason_type run.interrupted): the same command continues it.
With TEMPORAL_ADDRESS, the run continues on the workers instead, and the command ends with 3 (run.continues).`)
    .configureHelp({
      optionDescription: (option) =>
        `${option.mandatory ? 'required: ' : ''}${Help.prototype.optionDescription(option)}`,
      // Commander's default of 40 columns would leave descriptions of `enrich review` unwrapped on 80 columns.
      minWidthToWrap: 20,
    })
    .configureOutput({
      writeOut: (text) => write(process.stdout, commandAsTyped(text)),
      writeErr: (text) => write(process.stderr, text),
      outputError: () => {},
    })
    .version(version, '-V, --version', 'version of enrich')
    .helpOption('-h, --help', 'this help')
    .helpCommand('help [command]', 'Show the help of a command.')
    .hook('preAction', (_, command) => {
      if (command.opts<CommonFlags>().quiet === true) beQuiet();
      for (const name of unknownSettings(process.env))
        printProgress(`warning: ${name} is not a setting (.env.example)`);
      refuseMissingValues(command);
    })
    .exitOverride();
}

/** Refuses empty values, and flags as values: without FILE, `--output $FILE --json` would write a file `--json`. */
function refuseMissingValues(command: Command): void {
  const values = command.opts<Record<string, unknown>>();
  const isMissing = (value: unknown): boolean => typeof value === 'string' && /^(?:--\w[\w-]*)?$/.test(value);
  const option = command.options.find((each) => [values[each.attributeName()]].flat().some(isMissing));
  if (option) command.error(`error: option '${option.flags}' argument missing`);
  if (command.args.includes('')) command.error('error: an argument is empty');
}

/** Gives subcommands the settings of help and errors: Commander's `addCommand` does not do this. */
function inherit(command: Command): void {
  for (const child of command.commands) inherit(child.copyInheritedSettings(command));
}
