#!/usr/bin/env node
import { stopWhenNpmEnds, onInterruption } from '../dev/interruption.ts';
import { runProgram } from './program.ts';
import { guardOutput, printFailure, reportFailure } from './terminal/output.ts';

guardOutput();

const words = process.argv.slice(2);
const isJson = words.includes('--json');
// By default, Node.js prints all fields of an error, and a database error contains the refused row.
process.on('uncaughtException', (error) => process.exit(reportFailure(error, isJson)));
onInterruption((_signal, exitCode) => process.exit(exitCode));
stopWhenNpmEnds(process.env);
process.on('exit', (exitCode) => {
  // Exit codes above 128 mean a signal. It may have ended the command before it printed JSON.
  if (!isJson || exitCode <= 128) return;
  const next = 'run the command again; enrich status shows what was done';
  printFailure(
    { type: 'interrupted', message: 'a signal ended the command', where: undefined, next },
    exitCode,
  );
});

await runProgram(words);

// Libraries such as Temporal's SDK can leave threads running if a server does not answer. `process.exit` ends them.
for (const stream of [process.stdout, process.stderr])
  await new Promise<unknown>((done) => stream.write('', done));
process.exit();
