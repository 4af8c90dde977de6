import { runDefaults, type Config } from '../../config/settings.ts';
import type { RunPriority } from '../../contract/temporal-names.ts';
import type { ExportChoice } from '../../contract/run-input.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { parseAddress, type ExportAddress } from '../../ingest/sources/export-address.ts';
import { obtainExport } from '../../ingest/sources/obtain-export.ts';
import {
  refusePersonalColumns,
  refuseUnknownColumns,
  type RowChoice,
} from '../../ingest/columns/chosen-column.ts';
import { recordedMapping } from '../../ingest/columns/fields.ts';
import { withOriginalName, openExport, type ReadingOptions } from '../../ingest/reading/open-export.ts';
import { removeStagedFile, type StagedContent } from '../../ingest/sources/staging-directory.ts';
import { withDefaults } from '../../domain/runs/run-options.ts';
import type { RunSpec } from '../../runs/begin-run.ts';
import { requireNoPersonalData } from '../terminal/command.ts';
import { printProgress } from '../terminal/output.ts';
import { chosenOptions, type CommandFlags } from './run-option-flags.ts';
import { withWarehouse } from '../session/session.ts';

export interface SpecifiedRun extends RunSpec {
  /** Path of the downloaded export. Undefined for a file that was already here. */
  readonly fetched: string | undefined;
}
/** Returns the one export that FILE or `--query` names. @throws UsageProblem */
export function exportAddressOf(file: string | undefined, flags: CommandFlags): ExportAddress {
  const given = [file, flags.query].filter((source) => source !== undefined);
  const what = `${given.length === 0 ? 'no' : 'more than one'} export is named`;
  if (given.length !== 1)
    throw new UsageProblem('export.address', what, {
      where: 'FILE, --query',
      next: 'name one of: a file, https://…, s3://bucket/key, - for standard input, or --query',
    });
  if (flags.query !== undefined) {
    // Runs store their query, so the query must not name a person.
    const next = 'put the condition into a view or a table of the database, and select from there';
    const sql = requireNoPersonalData(flags.query, { what: 'this query', where: '--query', next });
    return parseAddress(`query:${sql}`, '/');
  }
  return parseAddress(file!, process.cwd());
}

/** Makes a run's spec. The same spec finds the same unfinished run. @throws Problem if the export is unusable */
export async function specifyRun(
  address: ExportAddress,
  flags: CommandFlags,
  config: Config,
  priority: RunPriority = 'ad-hoc',
): Promise<SpecifiedRun> {
  const chosen = await chosenOptions(flags);
  // Workers read the encoding and the treatment of short rows from the run's mapping.
  const given = {
    ...chosen.mapping,
    ...(flags.encoding !== undefined && { encoding: flags.encoding }),
    ...(flags.shortRows !== undefined && { short_rows: flags.shortRows }),
  };
  refuseEncodingOfRows(address.kind, given.encoding);
  const mapping = Object.keys(given).length > 0 ? given : null;
  const reading = { mapping: mapping ?? undefined, source: flags.source };
  const content = await checkedContent(address, reading, chosen, config);
  return {
    filePath: address.text,
    fileName: address.name,
    ...content,
    options: { ...withDefaults(chosen, runDefaults(config)), schedule: null, mapping, priority },
    expectedPlanHash: flags.plan ?? null,
  };
}

/** Refuses an encoding for rows of a database, which arrive as UTF-8: garbled names would be paid for. */
export function refuseEncodingOfRows(
  kind: ExportAddress['kind'] | ExportChoice['kind'],
  encoding: unknown,
): void {
  if (encoding === undefined || kind !== 'query') return;
  throw new UsageProblem('setting.invalid', 'rows of the database have no encoding of their own', {
    where: '--encoding with --query',
    next: 'omit --encoding, and encoding in the mapping file',
  });
}

/** Downloads an export that is not local, and checks it. If the content is not an export, the download is removed. */
async function checkedContent(
  address: ExportAddress,
  reading: ReadingOptions,
  choice: RowChoice,
  config: Config,
): Promise<Pick<SpecifiedRun, 'fileSha256' | 'fetched' | 'source'>> {
  if (address.kind === 'file') {
    return { ...(await readColumns(address.text, reading, choice)), fetched: undefined };
  }
  const shown = address.shown;
  printProgress(`${address.kind === 'http' || address.kind === 's3' ? 'fetching' : 'reading'} ${shown}`);
  const { path, sha256 } = await obtain(address, config);
  try {
    const { source } = await withOriginalName(path, shown, () => readColumns(path, reading, choice));
    return { fileSha256: sha256, source, fetched: path };
  } catch (error) {
    await removeStagedFile(path);
    throw error;
  }
}

/** Reads the header. @throws UsageProblem if `--only` or `--order-by` names a missing or personal column */
async function readColumns(path: string, reading: ReadingOptions, choice: RowChoice) {
  const { file, layout, columns } = await openExport(path, reading);
  const { header, recognised } = layout;
  const read = { header, mapping: recordedMapping(header, columns) };
  refuseUnknownColumns(read, choice, recognised);
  refusePersonalColumns(choice.only, read);
  return { fileSha256: file.sha256, source: columns.source };
}

/** Downloads the export. Only a query needs the warehouse, which is then opened. */
function obtain(address: ExportAddress, config: Config): Promise<StagedContent> {
  const access = { ...config.exportAccess, standardInput: process.stdin };
  if (address.kind !== 'query') return obtainExport(address, access);
  return withWarehouse(config, ({ warehouse: { pool } }) => obtainExport(address, { ...access, pool }));
}
