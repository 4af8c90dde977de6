import { runDefaults, type Config } from '../../config/settings.ts';
import type { RunPriority } from '../../contract/run-priorities.ts';
import { Problem, exitCodes } from '../../domain/problem.ts';
import {
  addressName,
  addressText,
  parseAddress,
  shownAddress,
  tableAddress,
  type ExportAddress,
} from '../../ingest/sources/export-address.ts';
import { isElsewhere, obtainExport, type ObtainedExport } from '../../ingest/sources/obtain-export.ts';
import type { RowChoice } from '../../ingest/columns/chosen-column.ts';
import { namingExport, type ReadingOptions } from '../../ingest/reading/open-export.ts';
import { StagingDirectory } from '../../ingest/sources/staging-directory.ts';
import type { RunSpec } from '../../runs/begin-run.ts';
import type { ChosenOptions } from '../../domain/runs/run-options.ts';
import { tell } from '../terminal/output.ts';
import { openWithMapping } from './mapping-proposal.ts';
import { chosenOptions } from './option-flags.ts';
import type { RunFlags } from './run-flags.ts';
import { withWarehouse } from '../session/session.ts';

/** A run spec whose export has been opened. */
export interface SpecifiedRun extends RunSpec {
  /** Path of the fetched export; undefined for a file on this machine. */
  readonly fetched: string | undefined;
}

/**
 * Where a command takes its export from: a file, an address, standard input, or rows of the database.
 *
 * @throws Problem `export.address`
 */
export function addressOf(file: string | undefined, flags: RunFlags): ExportAddress {
  const given = [file, flags.fromTable, flags.query].filter((source) => source !== undefined);
  if (given.length !== 1) {
    throw new Problem(
      'export.address',
      given.length === 0 ? 'no export is named' : 'an export is taken from one place',
      {
        where: 'FILE, --from-table, --query',
        next: 'give one of them: a file, https://…, s3://bucket/key, - for standard input, a table, or a query',
        exitCode: exitCodes.usage,
      },
    );
  }
  if (flags.query !== undefined) return { kind: 'query', sql: flags.query };
  if (flags.fromTable !== undefined) return tableAddress(flags.fromTable);
  const address = parseAddress(file!, process.cwd());
  if (address.kind !== 'standard-input' || !process.stdin.isTTY) return address;
  throw new Problem('export.address', 'nothing is written to standard input: it is the terminal', {
    where: '-',
    next: 'pipe an export into the command, such as: gzip -dc contacts.csv.gz | enrich plan -',
    exitCode: exitCodes.usage,
  });
}

/**
 * What a run is asked to do, from the command line: the content of the export and every option that decides what is
 * asked for. The same order again finds the unfinished run instead of starting a second one.
 *
 * The export is brought to this machine and read once; that it is an export, and that the mapping fits it, is found on
 * the way, so that a wrong one begins no run.
 *
 * @throws Problem `export.*`, `mapping.*`, `setting.invalid`, `credits.no-ceiling`
 */
export async function specifyRun(
  address: ExportAddress,
  flags: RunFlags,
  config: Config,
  priority: RunPriority = 'ad-hoc',
): Promise<SpecifiedRun> {
  const expectedPlanHash = planHashOf(flags.plan);
  const chosen = await chosenOptions(flags);
  const reading = { mapping: chosen.mapping ?? undefined, source: flags.source, choice: chosen };
  const { mapping, ...content } = await checkedContent(address, reading, flags, config);
  return {
    filePath: addressText(address),
    fileName: addressName(address),
    ...content,
    options: { ...runDefaults(config), ...chosen, schedule: null, mapping, priority },
    expectedPlanHash,
  };
}

/** Downloads an export that is not a local file, and checks that it is an export; another file is not kept. */
async function checkedContent(
  address: ExportAddress,
  reading: ReadingOptions & { readonly choice: RowChoice },
  flags: RunFlags,
  config: Config,
): Promise<Pick<SpecifiedRun, 'fileSha256' | 'fetched' | 'source'> & Pick<ChosenOptions, 'mapping'>> {
  if (!isElsewhere(address)) {
    const opened = await openWithMapping(addressText(address), reading, flags);
    return { ...opened, fetched: undefined };
  }
  const shown = shownAddress(address);
  tell(`${address.kind === 'http' || address.kind === 's3' ? 'fetching' : 'reading'} ${shown}`);
  const { path, sha256 } = await obtain(address, config);
  try {
    const { mapping, source } = await namingExport(path, shown, () =>
      openWithMapping(path, reading, flags, 'EXPORT'),
    );
    return { fileSha256: sha256, mapping, source, fetched: path };
  } catch (error) {
    await new StagingDirectory(config.exportAccess.stagingDirectory).remove(path);
    throw error;
  }
}

function obtain(address: ExportAddress, config: Config): Promise<ObtainedExport> {
  const access = { ...config.exportAccess, standardInput: process.stdin };
  if (address.kind !== 'table' && address.kind !== 'query') return obtainExport(address, access);
  return withWarehouse(config, ({ warehouse: { pool } }) => obtainExport(address, { ...access, pool }));
}

/** A hash that no plan can have is a slip of the hand, and must not begin a run that can only fail. */
function planHashOf(text: string | undefined): string | null {
  if (text === undefined || /^[0-9a-f]{16}$/.test(text)) return text ?? null;
  throw new Problem('setting.invalid', `"${text}" is not the hash of a plan`, {
    where: '--plan',
    next: 'copy it from the output of enrich plan FILE: 16 digits and letters from a to f',
    exitCode: exitCodes.usage,
  });
}
