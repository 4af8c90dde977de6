#!/usr/bin/env node
import { Command, CommanderError, Help } from 'commander';
import { loaders } from './command-loaders.ts';
import { exitCodes } from '../domain/problem.ts';
import { onInterruption } from '../dev/interruption.ts';
import { guardOutput, printFailure, reportFailure, write } from './terminal/output.ts';
import { version } from './terminal/version.ts';

guardOutput();

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

With --json, standard output ends in one JSON value on one line: the facts, or {"error": …, "exit_code": …}.

Exit codes: 0 done, 1 failed, 2 usage, 3 finished (or paused) with something that needs a person,
129, 130 and 143 ended by a signal (SIGHUP, Ctrl-C, SIGTERM).`,
  )
  .configureHelp({
    optionDescription: (option) =>
      `${option.mandatory ? 'needed: ' : ''}${Help.prototype.optionDescription(option)}`,
  })
  .configureOutput({
    writeOut: (text) => write(process.stdout, text),
    writeErr: (text) => write(process.stderr, text),
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

const isJson = words.includes('--json');
onInterruption((_signal, exitCode) => process.exit(exitCode));
process.on('exit', (exitCode) => {
  if (!isJson || exitCode <= 128) return;
  const next = 'give the command again; enrich status shows what was done';
  printFailure(
    { type: 'interrupted', message: 'a signal ended the command', where: undefined, next },
    exitCode,
  );
});

try {
  await program.parseAsync(words, { from: 'user' });
} catch (error) {
  if (!(error instanceof CommanderError)) process.exitCode = reportFailure(error, isJson);
  else if (error.exitCode !== 0) {
    process.exitCode = exitCodes.usage;
    const message = error.message.replace(/^error: /, '');
    const next = 'enrich COMMAND --help shows what a command takes';
    if (isJson) printFailure({ type: 'usage', message, where: undefined, next }, exitCodes.usage);
  }
}

/** Commands of a command end as the program does, and say of a wrong use where the right one is explained. */
function inherit(command: Command, name: string): void {
  command.showHelpAfterError(`  next:  ${name} --help shows what it takes, and an example`);
  for (const child of command.commands)
    inherit(child.copyInheritedSettings(command), `${name} ${child.name()}`);
}
