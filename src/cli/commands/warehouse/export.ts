import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { counted } from '../../../domain/text/counted.ts';
import { importerNames } from '../../../domain/crm/importer.ts';
import { Problem, exitCodes } from '../../../domain/problem.ts';
import { exportContacts, exportedColumns, type ExportedColumn } from '../../../export/export-contacts.ts';
import { getRun } from '../../../runs/runs.ts';
import { writeCrmImport, type CrmImportFlags } from '../../export/write-crm-import.ts';
import { writeWholeFile } from '../../../files/write-whole-file.ts';
import { tell } from '../../terminal/output.ts';
import { unlessReadEnough } from '../../terminal/write-lines.ts';
import { withWarehouse } from '../../session/session.ts';
import { settingsOf, withSettings } from '../../session/settings-flags.ts';

interface ExportFlags extends Partial<CrmImportFlags> {
  readonly run?: string;
  readonly columns?: string;
}

/** `enrich export` */
export function exportCommand(): Command {
  return withSettings(new Command('export'))
    .description('Write enriched contacts as CSV, or as files that a CRM imports.')
    .option('--run <run>', 'contacts that this run asked for or filled; "latest" is the newest run')
    .option('--source <name>', 'contacts of this CRM')
    .option('--since <cursor>', 'contacts that changed after this cursor of "enrich changes"')
    .option('--columns <names>', 'columns in this order, joined by commas (default: all)')
    .option('--output <path>', 'file, or with --for a folder, which is replaced (default: standard output)')
    .option('--for <crm>', `files for the importer of ${importerNames.join(', ')}`)
    .option('--policies <file>', 'YAML file of fields and policies for --for')
    .option('--policy <pairs>', 'policies over those of the file, such as title=overwrite-older,email=fill')
    .option('--json', 'with --for: the manifest as one JSON object')
    .addHelpText(
      'after',
      `
Columns: ${exportedColumns.join(', ')}.
contact_id is the record's id in the CRM. Suppressed people are left out. In CSV, a cell that a spreadsheet would
calculate (it begins with =, +, - or @) gets a leading apostrophe, except phone numbers. Import files have none.

Policies of --for: fill (default: write only if the CRM's cell was blank), overwrite-older, overwrite-if-verified,
never (default for email).

Examples:
  enrich export --run latest --output contacts.csv
  enrich export --source hubspot --columns contact_id,email,email_status,phone > hubspot.csv
  enrich export --for hubspot --run latest --output hubspot-import`,
    )
    .action(async (options: ExportFlags) => {
      const columns = columnsOf(options.columns);
      const contacts = await withWarehouse(settingsOf(options), async ({ warehouse }) => {
        const runId = options.run === undefined ? undefined : (await getRun(warehouse, options.run)).runId;
        if (options.for !== undefined) {
          await writeCrmImport(warehouse, { ...options, for: options.for }, runId);
          return undefined;
        }
        const { source, since } = options;
        return exportContacts(warehouse, { source, runId, since }, columns, (rows) =>
          options.output === undefined
            ? pipeline(rows, process.stdout, { end: false }).catch(unlessReadEnough)
            : writeWholeFile(rows, options.output),
        );
      });
      if (contacts !== undefined) tell(counted(contacts, 'contact'));
    });
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
