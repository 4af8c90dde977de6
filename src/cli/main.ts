#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { exitCodes } from '../domain/problem.ts';
import { attemptsCommand } from './attempts.ts';
import { backfillCommand } from './backfill.ts';
import { budgetCommand } from './budget.ts';
import { cancelCommand } from './cancel.ts';
import { demoCommand } from './demo.ts';
import { devCommand } from './dev.ts';
import { doctorCommand } from './doctor.ts';
import { inboxCommand } from './inbox.ts';
import { matchCommand } from './match.ts';
import { migrateCommand } from './migrate.ts';
import { reportFailure } from './output.ts';
import { pauseCommand } from './pause.ts';
import { planCommand } from './plan.ts';
import { receiverCommand } from './receiver.ts';
import { reportCommand } from './report.ts';
import { resumeCommand } from './resume.ts';
import { runCommand } from './run.ts';
import { sandboxCommand } from './sandbox.ts';
import { scheduleCommand } from './schedule.ts';
import { statusCommand } from './status.ts';
import { usageCommand } from './usage.ts';
import { whoamiCommand } from './whoami.ts';
import { workerCommand } from './worker.ts';

const packageFile = new URL('../../../package.json', import.meta.url);
const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };

const program = new Command('enrich')
  .description('Enriches CRM exports into a PostgreSQL warehouse, inside a call limit and a credit budget.')
  .addHelpText(
    'after',
    `
What is set is used, what is not set is embedded: without DATABASE_URL, TEMPORAL_ADDRESS and ENRICHMENT_BASE_URL
everything runs on this machine, against the sandbox, at no cost.

Exit codes: 0 done, 1 failed, 2 usage, 3 finished (or paused) with something that needs a person.`,
  )
  .version(version)
  .exitOverride();

for (const command of [
  demoCommand(),
  planCommand(),
  runCommand(),
  backfillCommand(),
  statusCommand(),
  reportCommand(),
  pauseCommand(),
  resumeCommand(),
  cancelCommand(),
  attemptsCommand(),
  inboxCommand(),
  budgetCommand(),
  scheduleCommand(),
  matchCommand(),
  usageCommand(),
  whoamiCommand(),
  doctorCommand(),
  migrateCommand(),
  workerCommand(),
  receiverCommand(),
  sandboxCommand(),
  devCommand(),
]) {
  program.addCommand(command);
}
inherit(program, program.name());

/** A command that only holds others, given alone, is asked what it holds: that is no error. */
const words = process.argv.slice(2);
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
