import { z } from 'zod';
import { runFacts } from '../contract/run-facts.ts';
import type { Printed } from '../contract/schema-fields.ts';
import { attemptList, budgetList } from './credit-outputs.ts';
import { importManifest } from '../export/crm-import/import-manifest.ts';
import { change, exportedFile } from './export-outputs.ts';
import { notification } from './notification-outputs.ts';
import { report } from './report-output.ts';
import { erase, plan, runList, undo } from './run-outputs.ts';

interface Output {
  readonly schema: z.ZodType;
  /** Commands that print it with `--json`. */
  readonly commands: readonly string[];
}

const state = z.enum(['ok', 'attention', 'broken']);

const finding = z.strictObject({
  part: z.string().describe('Part of the set-up.'),
  state: state.describe('State of the part.'),
  what: z.string().describe('What would be used, and its condition.'),
  next: z.string().optional().describe('What to do. Absent: nothing is to be done.'),
});

const doctor = z
  .strictObject({
    state: state.describe('The worst state of all parts.'),
    findings: z.array(finding).describe('All parts that were checked.'),
  })
  .describe('The state of the set-up.');

const failure = z
  .strictObject({
    error: z
      .strictObject({
        type: z.string().describe('Stable name of the error, such as "export.unreadable".'),
        message: z.string().describe('What failed.'),
        where: z.string().nullable().describe('Where. Null: the message says it.'),
        next: z.string().describe('What to do.'),
      })
      .describe('The error.'),
    exit_code: z.int().describe('Exit code of the command.'),
  })
  .describe('Printed in place of the facts when a command fails.');

/**
 * The outputs that programs are told to read, by name: `npm run schemas` writes a JSON Schema of each to
 * `schemas/outputs`. TypeScript alone describes what the other commands print with `--json`.
 */
export const outputs = {
  error: { schema: failure, commands: [] },
  notification: { schema: notification, commands: [] },
  run: {
    schema: runFacts,
    commands: ['run', 'backfill', 'demo', 'approve', 'resume', 'pause', 'cancel', 'status'],
  },
  'run-list': { schema: runList, commands: ['status'] },
  plan: { schema: plan, commands: ['plan', 'run', 'backfill'] },
  report: { schema: report, commands: ['report'] },
  change: { schema: change, commands: ['changes'] },
  export: { schema: exportedFile, commands: ['export'] },
  'import-manifest': { schema: importManifest, commands: ['export'] },
  'attempt-list': { schema: attemptList, commands: ['attempts list'] },
  'budget-list': { schema: budgetList, commands: ['budget show'] },
  undo: { schema: undo, commands: ['undo'] },
  erase: { schema: erase, commands: ['erase'] },
  doctor: { schema: doctor, commands: ['doctor'] },
} as const satisfies Readonly<Record<string, Output>>;

export type OutputName = keyof typeof outputs;

/** The value that an output prints. */
export type OutputOf<Name extends OutputName> = Name extends OutputName
  ? Printed<(typeof outputs)[Name]['schema']>
  : never;
