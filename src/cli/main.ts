#!/usr/bin/env node
import { onInterruption } from '../dev/interruption.ts';
import { runProgram } from './program.ts';
import { guardOutput, printFailure } from './terminal/output.ts';

guardOutput();

const words = process.argv.slice(2);
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

await runProgram(words);
