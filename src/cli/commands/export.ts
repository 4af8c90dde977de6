import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { importerNames, importers, type ImporterName } from '../../domain/crm/crm.ts';
import {
  defaultPolicies,
  fieldDecisions,
  readPolicyPairs,
  type FieldDecision,
} from '../../domain/crm/field-policy.ts';
import type { Warehouse } from '../../db/database.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { sandboxServiceName } from '../../domain/runs/run-options.ts';
import { formatCount } from '../../domain/text/format.ts';
import { exportForCrm } from '../../export/crm-import/export-for-crm.ts';
import type { ImportManifest } from '../../export/crm-import/import-manifest.ts';
import { countSuppressed } from '../../export/contact-choice.ts';
import {
  exportFormatNames,
  exportFormats,
  formatOfEnding,
  type ExportFormatName,
} from '../../export/export-format.ts';
import { exportNextPart } from '../../export/export-parts.ts';
import { exportedTableNames, exportTable, type ExportedTableName } from '../../export/export-table.ts';
import { readS3Text, writeS3Object, type S3Settings } from '../../files/s3-client.ts';
import { asUnwritable, requireReplaceable, writeWholeFile } from '../../files/write-whole-file.ts';
import { parseAddress } from '../../ingest/sources/export-address.ts';
import type { OutputOf } from '../../outputs/outputs.ts';
import { newestCursor, readChanges, type FeedEntry } from '../../people/change-feed.ts';
import { hasContactsOfService, requireSource } from '../../people/contact-sources.ts';
import { getRun } from '../../runs/runs.ts';
import { Command, Option } from '../terminal/command.ts';
import { print, printJson, formatTable, printProgress, writeBytes } from '../terminal/output.ts';

interface ExportFlags {
  readonly for?: string;
  readonly output?: string;
  readonly source?: string;
  readonly since?: string;
  readonly policy?: string;
  readonly json?: boolean;
  readonly run?: string;
  readonly table: ExportedTableName;
  readonly select?: string;
  readonly format?: ExportFormatName;
}

export function exportCommand(): Command {
  return new Command('export')
    .description('Write enriched contacts as CSV, JSON Lines or Parquet, or as files that a CRM imports.')
    .option(
      '--output <path>',
      'file or s3://bucket/key, or a folder with --for or --table changes (default: standard output)',
    )
    .option('--run <run>', 'contacts that have their person from this run; "latest" is the newest run')
    .option('--source <name>', 'contacts of this CRM')
    .option('--since <cursor>', 'contacts that changed after this cursor, which --json prints')
    .addOption(
      new Option('--for <crm>', `files for the importer of ${importerNames.join(', ')}`).conflicts([
        'format',
        'select',
        'table',
      ]),
    )
    .option('--policy <pairs>', 'policies of fields for --for, such as title=overwrite-older,email=fill')
    .addOption(
      new Option('--table <name>', 'what a row is')
        .choices(exportedTableNames)
        .default('contacts', 'contacts'),
    )
    .option(
      '--select <columns>',
      'columns in this order, joined by commas, or * for all (default: docs/guides/exporting.md)',
    )
    .addOption(
      new Option('--format <format>', 'default: by the ending of --output').choices(exportFormatNames),
    )
    .option('--json', 'with --output: what was written as one JSON object; with --for the manifest')
    .examples(`
  enrich export --run latest --output enriched-contacts.csv
  enrich export --run latest --for hubspot --output hubspot-import
  enrich export --select contact_id,email,phone --source hubspot > hubspot.csv
  enrich export --table phones --output s3://lake/phones.parquet --json
  enrich export --since CURSOR --format jsonl | load-into-lake
  enrich export --table changes --output s3://lake/changes/`)
    .explain(`
--output replaces an earlier export with the same columns, or a folder of --for, when the new one is complete, so a
nightly job can write the same name. Other existing files are refused. Objects in S3 are replaced. Every table
has the rows that belong to the chosen contacts; suppressed contacts are left out and counted. "changes" has deleted
contacts too. With an --output that ends in "/", each call adds a Parquet file with what changed since the file before
it.
docs/guides/exporting.md has the columns, and docs/guides/crm-import.md the policies (fill, overwrite-older,
overwrite-if-verified, never). In CSV, a cell that a spreadsheet would read as a formula gets a leading apostrophe.`)
    .onWarehouse(async ({ warehouse, config }, options: ExportFlags) => {
      if (options.policy !== undefined && options.for === undefined)
        throw new UsageProblem('setting.invalid', 'policies apply only to files for an importer', {
          where: '--policy',
          next: `add the importer: --for ${importerNames.join(', --for ')}; or leave --policy out`,
        });
      if (options.source !== undefined) await requireSource(warehouse.database, options.source);
      const runId = options.run && (await getRun(warehouse, options.run)).runId;
      if (options.for !== undefined) await writeCrmImport(warehouse, options, runId);
      else await writeTable(warehouse, options, runId, config.exportAccess.s3);
      if (await hasContactsOfService(warehouse, sandboxServiceName, { source: options.source, runId }))
        printProgress('note: the sandbox invented data of these contacts; keep the data out of your CRM');
    });
}

/** Writes a table to a file, S3 or standard output. Notices go to standard error, apart from the rows. */
async function writeTable(
  warehouse: Warehouse,
  options: ExportFlags,
  runId: string | undefined,
  s3: S3Settings,
): Promise<void> {
  const { table, source, since } = options;
  const output = options.output === '-' ? undefined : options.output;
  if (output?.endsWith('/')) return writeNextPart(warehouse, { ...options, output }, s3);
  const format = options.format ?? formatOf(output);
  const isUnreadable = process.stdout.isTTY && !exportFormats[format].isText;
  if (output === undefined && (options.json === true || isUnreadable))
    throw new UsageProblem('setting.invalid', 'the rows need a file: the terminal or --json has the output', {
      where: '--output',
      next: 'name a file: --output FILE',
    });
  const select = options.select?.split(',').map((name) => name.trim());
  // The cursor is read before the rows, so that the next export includes changes made during this one.
  const cursor = (await newestCursor(warehouse.database)) ?? null;
  const chosen = { table, format, select, choice: { source, runId, since } };
  const rows = await exportTable(warehouse, chosen, async (bytes, beginning) => {
    if (output !== undefined && s3Address(output) === undefined) await requireReplaceable(output, beginning);
    await writeTo(output, bytes, s3);
  });
  // The reader of standard output, such as `head`, has stopped early.
  if (rows === undefined) return;
  const suppressed = await countSuppressed(warehouse, chosen.choice);
  printProgress(
    formatCount(rows, table === 'contacts' ? 'contact' : 'row') +
      (output === undefined ? '' : ` in ${output}`),
  );
  if (suppressed > 0)
    printProgress(`${formatCount(suppressed, 'contact')} left out: on the suppression list`);
  if (output !== undefined && options.json === true)
    printJson<'export'>({ table, format, output, rows, suppressed, cursor });
}

/**
 * Adds the next part to a folder of Parquet files: the changes of all contacts since the part before. Flags that choose
 * contacts, columns or a format are refused.
 */
async function writeNextPart(
  warehouse: Warehouse,
  { table, output, run, source, since, select, format, json }: ExportFlags & { readonly output: string },
  s3: S3Settings,
): Promise<void> {
  if (table !== 'changes' || [run, source, since, select, format].some((each) => each !== undefined))
    throw new UsageProblem('setting.invalid', 'a folder takes only the parts of --table changes', {
      where: `--output ${output}`,
      next: 'name a file; or give --table changes and --output FOLDER/, and leave the other choices out',
    });
  const manifest = await exportNextPart(warehouse, {
    shown: output,
    read: (name) => readText(output + name, s3),
    write: (bytes, name) => writeTo(output + name, bytes, s3),
  });
  const newest = manifest.parts.at(-1);
  if (newest) printProgress(`newest part: ${formatCount(newest.rows, 'contact')} in ${output}${newest.file}`);
  if (json === true) printJson<'parts-manifest'>(manifest);
}

/** Reads a file in a folder of parts, here or in S3. Undefined if the file does not exist. */
function readText(path: string, s3: S3Settings): Promise<string | undefined> {
  const address = s3Address(path);
  if (address) return readS3Text(address, s3);
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw asUnwritable(error, 'the folder', path);
  });
}

/** Writes bytes to a file or to S3, or to standard output if `output` is undefined. */
function writeTo(output: string | undefined, bytes: Readable, s3: S3Settings): Promise<void> {
  if (output === undefined) return writeBytes(bytes);
  const address = s3Address(output);
  return address ? writeS3Object(bytes, address, s3) : writeWholeFile(bytes, output);
}

/** Returns bucket and key of `s3://bucket/key`. Undefined for any other path. */
function s3Address(output: string) {
  const address = /^s3:/i.test(output) ? parseAddress(output, '.') : undefined;
  return address?.kind === 's3' ? address : undefined;
}

/** Takes the format from the ending of the file name, by which other programs read the file. No ending: CSV. */
function formatOf(output: string | undefined): ExportFormatName {
  const ending = extname(output ?? '');
  const format = ending === '' ? 'csv' : formatOfEnding(ending.slice(1).toLowerCase());
  if (format !== undefined) return format;
  throw new UsageProblem('setting.invalid', `enrich export writes no ${ending} files`, {
    where: `--output ${output}`,
    next: 'name a file that ends in .csv, .jsonl or .parquet, or give a --format; to compress: enrich export | gzip',
  });
}

/** Writes the import files of a CRM into a folder, and prints what they change. */
async function writeCrmImport(
  warehouse: Warehouse,
  flags: ExportFlags,
  runId: string | undefined,
): Promise<void> {
  const importer = importerOf(flags.for!);
  const folder = flags.output;
  // A path such as s3://… would create a local folder named `s3:`.
  if (folder === undefined || /^s3:/i.test(folder)) {
    throw new UsageProblem('setting.invalid', 'import files are written into a folder of this machine', {
      where: '--output',
      next: `name a new folder, such as --output ${importer}-import`,
    });
  }
  const { source, since } = flags;
  if (source !== undefined) requireOwnSource(importer, source);
  const policies = flags.policy === undefined ? defaultPolicies : readPolicyPairs(flags.policy);
  const choice = { importer, folder, source, since, runId, policies };
  const { manifest, replaced } = await exportForCrm(warehouse, choice);
  if (replaced > 0)
    printProgress(`replaced ${formatCount(replaced, 'file')} of an earlier export in ${folder}`);
  if (flags.json === true) return printJson<'import-manifest'>(manifest);
  describe(manifest, folder);
}

/** Refuses a source that belongs to another CRM: its contacts do not have record ids of the importer's CRM. */
export function requireOwnSource(importer: ImporterName, source: string): void {
  const owner = importerNames.find((name) => importers[name].source === source);
  if (owner === undefined || owner === importer) return;
  const what = `contacts of ${source} have no record ids of ${importers[importer].title}`;
  throw new UsageProblem('setting.invalid', what, {
    where: '--source',
    next: `write --for ${owner}, or leave --source out`,
  });
}

/** Prints what the import files contain, what was left out, and how to import them. Zeros are not printed. */
function describe(manifest: ImportManifest, folder: string): void {
  const { parts, decisions, conflicts, job_changes: moves, source, commands, cursor } = manifest;
  const { contacts, companies, missing_columns: missing } = manifest;
  const fields = Object.values(decisions).reduce((sum, each) => sum + each, 0);
  const files = [...parts, ...companies, conflicts, moves].filter((part) => part !== undefined);
  const figures: readonly (readonly [title: string, figure: number])[] = [
    ['left out: on the suppression list', manifest.suppressed],
    ['left out: opted out in the newest export', manifest.opted_out],
    ["left out: without the CRM's record id", manifest.without_record_id],
    ['no update: the cells of the newest export were removed', manifest.without_cells],
    ['overwrite-older acts as fill: no modified time', manifest.without_modified_time],
    ['companies left out: no domain, or one of another company', manifest.companies_left_out],
    ['fields of the contacts', fields],
    ...fieldDecisions.map((name) => [`  ${meanings[name] ?? name}`, decisions[name] ?? 0] as const),
  ];
  print(formatTable([['contacts compared', contacts], ...figures.filter(([, figure]) => figure > 0)]));
  if (files.length > 0)
    print(
      `files in ${folder}:\n${formatTable(files.map(({ file, rows }) => [file, formatCount(rows, 'row')]))}`,
    );
  if (contacts > 0 && missing.length > 0)
    printProgress(`not filled, because the export has no such column: ${missing.join(', ')}`);
  const other = `source "${source}"; --source NAME takes another`;
  printProgress(parts.length === 0 ? `nothing to import: ${other}` : manifest.instruction);
  if (companies.length > 0) printProgress(manifest.companies_instruction!);
  if (commands[0] !== undefined) printProgress(`such as: ${commands[0]}`);
  if (cursor !== null) printProgress(`to export only what changes after this export: --since ${cursor}`);
}

/** Explains decisions that need more than their name. */
const meanings: { readonly [Decision in FieldDecision]?: string } = {
  filled: "filled: the CRM's cell was blank",
  overwritten: 'overwritten: the CRM had another value',
  kept: "kept: the policy keeps the CRM's value",
  'kept blank': 'kept blank: the policy does not fill this field',
  same: 'same: the CRM has the value',
  'nothing known': 'nothing known: the warehouse has no value',
  'not in the export': 'not in the export: no such column',
  'cells removed': 'cells removed: by retention or a suppression',
  'refused: listed values': 'refused: the CRM takes only listed values',
  'job change': 'job change: the person has another employer now',
  'other place': 'other place: the CRM keeps the city of another place',
};

/** Finds an importer by its name, or by the source of its contacts, such as `dynamics365`. */
function importerOf(name: string): ImporterName {
  const importer = importerNames.find((each) => each === name || importers[each].source === name);
  if (importer !== undefined) return importer;
  throw new UsageProblem('setting.invalid', `there is no importer "${name}"`, {
    where: '--for',
    next: `write one of ${importerNames.join(', ')}`,
  });
}

export function changesCommand(): Command {
  return new Command('changes')
    .description('Print contacts that changed or were deleted, in order.')
    .option('--since <cursor>', 'cursor of the last change that was read (default: from the first change)')
    .limit('maximum number of changes (default: all)')
    .option('--json', 'one JSON object per line, as without this flag')
    .examples(`
  enrich changes --json --limit 1000
  enrich changes --json --since CURSOR`)
    .explain(`
Each line is a JSON object with cursor, operation (upsert or delete), source, contact_id, groups (changed fields, named
after their first column) and changed_at. Continue with the cursor of the last line. Changes of open transactions follow
later, in order: no change is skipped. If RETENTION has removed changes after the cursor, or the first changes, the
command fails: write all contacts with enrich export --output FILE --json, and continue with its cursor.`)
    .onWarehouse(async ({ warehouse }, { since, limit }: { since?: string; limit?: number }) =>
      writeBytes(asJsonLines(readChanges(warehouse.database, { since, limit }))),
    );
}

async function* asJsonLines(changes: AsyncIterable<FeedEntry>): AsyncIterable<Uint8Array> {
  for await (const change of changes)
    yield Buffer.from(`${JSON.stringify(change satisfies OutputOf<'change'>)}\n`);
}
