import type { Command } from './terminal/command.ts';

type Load = () => Promise<Command>;

/** The commands below the headings of `enrich --help`. */
const groups: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Runs:': {
    demo: async () => (await import('./commands/demo.ts')).demoCommand(),
    plan: async () => (await import('./commands/run.ts')).planCommand(),
    run: async () => (await import('./commands/run.ts')).runCommand(),
    backfill: async () => (await import('./commands/run.ts')).backfillCommand(),
    approve: async () => (await import('./commands/steer.ts')).approveCommand(),
    status: async () => (await import('./commands/status.ts')).statusCommand(),
    report: async () => (await import('./commands/report.ts')).reportCommand(),
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
  },
};

/**
 * Loads the module of each command only when that command runs: Temporal's worker alone takes half a second of
 * processor time to load, and `enrich status` does not need it.
 */
export const loaders: ReadonlyMap<string, Load> = new Map(
  Object.entries(groups).flatMap(([heading, commands]) =>
    Object.entries(commands).map(([name, load]): [string, Load] => [
      name,
      async () => (await load()).helpGroup(heading),
    ]),
  ),
);
