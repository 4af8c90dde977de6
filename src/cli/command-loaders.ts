import type { Command } from 'commander';

/**
 * Each command's module, loaded when it is asked for: Temporal's worker alone takes half a second of processor time to
 * load, and `enrich status` needs none of it.
 */
export const loaders: ReadonlyMap<string, () => Promise<Command>> = new Map<string, () => Promise<Command>>([
  ['demo', async () => (await import('./commands/demo.ts')).demoCommand()],
  ['plan', async () => (await import('./commands/plan.ts')).planCommand()],
  ['run', async () => (await import('./commands/run.ts')).runCommand()],
  ['backfill', async () => (await import('./commands/backfill.ts')).backfillCommand()],
  ['status', async () => (await import('./commands/status.ts')).statusCommand()],
  ['report', async () => (await import('./commands/report.ts')).reportCommand()],
  ['pause', async () => (await import('./commands/pause.ts')).pauseCommand()],
  ['resume', async () => (await import('./commands/resume.ts')).resumeCommand()],
  ['cancel', async () => (await import('./commands/cancel.ts')).cancelCommand()],
  ['priority', async () => (await import('./commands/priority.ts')).priorityCommand()],
  ['skip', async () => (await import('./commands/skip.ts')).skipCommand()],
  ['attempts', async () => (await import('./commands/attempts.ts')).attemptsCommand()],
  ['inbox', async () => (await import('./commands/inbox.ts')).inboxCommand()],
  ['budget', async () => (await import('./commands/budget.ts')).budgetCommand()],
  ['schedule', async () => (await import('./commands/schedule.ts')).scheduleCommand()],
  ['changes', async () => (await import('./commands/changes.ts')).changesCommand()],
  ['export', async () => (await import('./commands/export.ts')).exportCommand()],
  ['sql', async () => (await import('./commands/sql.ts')).sqlCommand()],
  ['suppress', async () => (await import('./commands/suppress.ts')).suppressCommand()],
  ['rebuild', async () => (await import('./commands/rebuild.ts')).rebuildCommand()],
  ['undo', async () => (await import('./commands/undo.ts')).undoCommand()],
  ['erase', async () => (await import('./commands/erase.ts')).eraseCommand()],
  ['match', async () => (await import('./commands/match.ts')).matchCommand()],
  ['usage', async () => (await import('./commands/usage.ts')).usageCommand()],
  ['whoami', async () => (await import('./commands/whoami.ts')).whoamiCommand()],
  ['doctor', async () => (await import('./commands/doctor.ts')).doctorCommand()],
  ['migrate', async () => (await import('./commands/migrate.ts')).migrateCommand()],
  ['import-history', async () => (await import('./commands/import-history.ts')).importHistoryCommand()],
  ['prune', async () => (await import('./commands/prune.ts')).pruneCommand()],
  ['worker', async () => (await import('./commands/worker.ts')).workerCommand()],
  ['receiver', async () => (await import('./commands/receiver.ts')).receiverCommand()],
  ['codec-server', async () => (await import('./commands/codec-server.ts')).codecServerCommand()],
  ['sandbox', async () => (await import('./commands/sandbox.ts')).sandboxCommand()],
  ['dev', async () => (await import('./commands/dev.ts')).devCommand()],
]);
