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
    budget: async () => (await import('./commands/service/budget.ts')).budgetCommand(),
    attempts: async () => (await import('./commands/service/attempts.ts')).attemptsCommand(),
    inbox: async () => (await import('./commands/service/inbox.ts')).inboxCommand(),
    usage: async () => (await import('./commands/service/usage.ts')).usageCommand(),
    match: async () => (await import('./commands/service/match.ts')).matchCommand(),
    whoami: async () => (await import('./commands/service/whoami.ts')).whoamiCommand(),
  },
  'Warehouse:': {
    export: async () => (await import('./commands/warehouse/export.ts')).exportCommand(),
    changes: async () => (await import('./commands/warehouse/changes.ts')).changesCommand(),
    sql: async () => (await import('./commands/warehouse/sql.ts')).sqlCommand(),
    review: async () => (await import('./commands/warehouse/review.ts')).reviewCommand(),
    rebuild: async () => (await import('./commands/warehouse/rebuild.ts')).rebuildCommand(),
    prune: async () => (await import('./commands/warehouse/prune.ts')).pruneCommand(),
    migrate: async () => (await import('./commands/warehouse/migrate.ts')).migrateCommand(),
    'import-history': async () =>
      (await import('./commands/warehouse/import-history.ts')).importHistoryCommand(),
  },
  'Privacy:': {
    suppress: async () => (await import('./commands/privacy/suppress.ts')).suppressCommand(),
    erase: async () => (await import('./commands/privacy/erase.ts')).eraseCommand(),
  },
  'Set-up and processes:': {
    doctor: async () => (await import('./commands/processes/doctor.ts')).doctorCommand(),
    dev: async () => (await import('./commands/processes/dev.ts')).devCommand(),
    worker: async () => (await import('./commands/processes/worker.ts')).workerCommand(),
    receiver: async () => (await import('./commands/processes/receiver.ts')).receiverCommand(),
    'codec-server': async () => (await import('./commands/processes/codec-server.ts')).codecServerCommand(),
    sandbox: async () => (await import('./commands/processes/sandbox.ts')).sandboxCommand(),
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
