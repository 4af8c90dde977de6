#!/usr/bin/env node
import { Command, CommanderError, Help } from 'commander';
import { exitCodes } from '../domain/problem.ts';
import { reportFailure } from './terminal/output.ts';
import { version } from './terminal/version.ts';

/**
 * Each command's module, loaded when it is asked for: Temporal's worker alone takes half a second of processor time to load,
 * and `enrich status` needs none of it.
 */
const loaders = new Map<string, () => Promise<Command>>([
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
  ['suppress', async () => (await import('./commands/suppress.ts')).suppressCommand()],
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

/** Whoever reads the output may have read enough (`enrich status | head -3`): that is no reason for a run to die. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const program = new Command('enrich')
  .description('Enriches CRM exports into a PostgreSQL warehouse, inside a call limit and a credit budget.')
  .addHelpText(
    'after',
    `
Examples:
  enrich plan contacts.csv       what it would ask for, cost and take; spends nothing
  enrich run contacts.csv        shows the plan and asks; enrich status latest says how it is
  enrich COMMAND --help          explains each command, with an example

What is set is used, what is not set is embedded: without DATABASE_URL, TEMPORAL_ADDRESS and ENRICHMENT_BASE_URL
everything runs on this machine, against the sandbox, at no cost.

Exit codes: 0 done, 1 failed, 2 usage, 3 finished (or paused) with something that needs a person.`,
  )
  .configureHelp({
    optionDescription: (option) =>
      `${option.mandatory ? 'needed: ' : ''}${Help.prototype.optionDescription(option)}`,
  })
  .version(version)
  .exitOverride();

const words = process.argv.slice(2);
const asked = loaders.get(words[0] ?? '');
const isVersionAsked = words[0] === '--version' || words[0] === '-V';
// Help, a word that is no command and its nearest one need all of them.
const needed = asked ? [asked] : isVersionAsked ? [] : loaders.values();
for (const load of needed) program.addCommand(await load());
inherit(program, program.name());

/** A command that only holds others, given alone, is asked what it holds: that is no error. */
const named = words.length === 0 ? program : program.commands.find((command) => command.name() === words[0]);
if (words.length < 2 && named && named.commands.length > 0) words.push('--help');

try {
  await program.parseAsync(words, { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError)
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  else process.exitCode = reportFailure(error);
}

/** Commands of a command end as the program does, and say of a wrong use where the right one is explained. */
function inherit(command: Command, name: string): void {
  command.showHelpAfterError(`  next:  ${name} --help shows what it takes, and an example`);
  for (const child of command.commands)
    inherit(child.copyInheritedSettings(command), `${name} ${child.name()}`);
}
