import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { counted } from '../../domain/text/counted.ts';
import { isDate, parseMoment } from '../../domain/text/moment.ts';
import { Problem, exitCodes } from '../../domain/problem.ts';
import { exportContacts, exportedColumns, type ExportedColumn } from '../../export/export-contacts.ts';
import { getRun } from '../../runs/runs.ts';
import { tell } from '../terminal/output.ts';
import { unlessReadEnough } from '../terminal/write-lines.ts';
import { withWarehouse } from '../session/session.ts';
import { settingsOf, withSettings } from '../session/settings-flags.ts';

interface ExportFlags {
  readonly run?: string;
  readonly source?: string;
  readonly since?: string;
  readonly columns?: string;
  readonly output?: string;
}

/** `enrich export` */
export function exportCommand(): Command {
  return withSettings(new Command('export'))
    .description('enriched contacts as CSV, such as to import them into the CRM')
    .option('--run <run>', 'contacts that this run was the last to write; "latest" is the newest run')
    .option('--source <name>', 'contacts of this CRM')
    .option(
      '--since <time>',
      'contacts that were asked for since, such as 2026-11-20 or 2026-11-20T02:00:00Z',
    )
    .option('--columns <names>', 'which columns, in this order, joined by commas (default: all)')
    .option('--output <file>', 'write it there (a file that is there is replaced) and not to standard output')
    .addHelpText(
      'after',
      `
Columns: ${exportedColumns.join(', ')}.
contact_id is the record's id in the CRM. People on the suppression list are left out. A cell that a spreadsheet would calculate
(=, +, -, @ in front) gets an apostrophe in front of it; phone numbers do not.

Examples:
  enrich export --run latest --output contacts.csv
  enrich export --source hubspot --columns contact_id,email,email_status,phone > hubspot.csv`,
    )
    .action(async (options: ExportFlags) => {
      const columns = columnsOf(options.columns);
      const since = options.since === undefined ? undefined : timeOf(options.since);
      const contacts = await withWarehouse(settingsOf(options), async ({ warehouse }) => {
        const runId = options.run === undefined ? undefined : (await getRun(warehouse, options.run)).runId;
        return exportContacts(warehouse, { source: options.source, runId, since }, columns, (rows) =>
          options.output === undefined
            ? pipeline(rows, process.stdout, { end: false }).catch(unlessReadEnough)
            : writeWhole(rows, options.output),
        );
      });
      if (contacts !== undefined) tell(counted(contacts, 'contact'));
    });
}

/**
 * Written under another name and renamed, so that the file is complete; readable for this user only (personal data).
 */
async function writeWhole(rows: NodeJS.ReadableStream, path: string): Promise<void> {
  const partial = `${path}.partial`;
  try {
    await pipeline(rows, createWriteStream(partial, { mode: 0o600 }));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw new Problem('output.unwritable', `the file cannot be written (${String(error.code)})`, {
      where: path,
      next: 'name a file in a folder that exists and may be written',
      cause: error,
    });
  }
}

function columnsOf(text: string | undefined): readonly ExportedColumn[] {
  if (text === undefined) return exportedColumns;
  return text.split(',').map((name) => {
    const column = exportedColumns.find((each) => each === name.trim());
    if (column) return column;
    throw new Problem('setting.invalid', `there is no column "${name.trim()}"`, {
      where: '--columns',
      next: `write some of ${exportedColumns.join(', ')}`,
      exitCode: exitCodes.usage,
    });
  });
}

function timeOf(text: string): Date {
  const time = isDate(text) ? new Date(text) : parseMoment(text);
  if (time) return time;
  throw new Problem('setting.invalid', `"${text}" is no time`, {
    where: '--since',
    next: 'write a date (UTC), or a time with its zone, such as 2026-11-20T02:00:00Z',
    exitCode: exitCodes.usage,
  });
}
