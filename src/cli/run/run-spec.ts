import { runDefaults, type Config } from '../../config/settings.ts';
import type { RunPriority } from '../../contract.ts';
import { formatCredits, parseCredits } from '../../domain/money/decimal.ts';
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
import { extraNames, type ExtraNames } from '../../domain/late-results/delivery-kinds.ts';
import { parseExpectations } from '../../domain/runs/expectations.ts';
import { parseRowFilters, parseRowOrder } from '../../domain/runs/row-choice.ts';
import { withoutPersonalData } from '../../telemetry/log.ts';
import { namingExport, type ReadingOptions } from '../../ingest/reading/open-export.ts';
import { StagingDirectory } from '../../ingest/sources/staging-directory.ts';
import type { RunSpec } from '../../runs/begin-run.ts';
import type { ChosenOptions, RunOptions } from '../../db/run-options.ts';
import { tell } from '../terminal/output.ts';
import { openWithMapping, readMapping } from './mapping-proposal.ts';
import type { RunFlags, OptionFlags } from './run-flags.ts';
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
    options: { ...runDefaults(config), ...chosen, schedule: null, mapping, ...pilotOf(flags), priority },
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

/**
 * Checks the flags that say what is asked for, and reads the mapping file.
 *
 * @throws Problem `mapping.*`, `setting.invalid`, `credits.no-ceiling`
 */
export async function chosenOptions(flags: OptionFlags): Promise<ChosenOptions> {
  const reveal = extrasOf('reveal', flags.reveal);
  const waterfall = extrasOf('waterfall', flags.waterfall);
  return {
    source: flags.source ?? null,
    mapping: flags.mapping === undefined ? null : await readMapping(flags.mapping),
    reveal,
    waterfall,
    maxCreditsPerPerson: ceilingOf(flags.maxCreditsPerPerson, waterfall.length > 0),
    onBudget: flags.onBudget ?? null,
    onUnknown: flags.onUnknown ?? 'hold',
    minMatchRate: flags.minMatchRate === undefined ? null : shareOf('--min-match-rate', flags.minMatchRate),
    expectations: flags.expect === undefined ? null : expectationsOf(flags.expect),
    ...rowChoiceOf(flags),
  };
}

function expectationsOf(text: string): string {
  parseExpectations(text);
  return text.trim();
}

/** The choice is kept with the run and shown in Temporal, where no person may be named. */
function rowChoiceOf({ only = [], orderBy }: OptionFlags): RowChoice {
  const personal = only.find((text) => withoutPersonalData(text) !== text);
  if (personal !== undefined)
    throw new Problem('setting.invalid', 'this looks like it names a person', {
      where: '--only',
      next: 'choose by a column that describes people, such as a stage or a country; or shorten the file',
      exitCode: exitCodes.usage,
    });
  return {
    only: parseRowFilters(only),
    orderBy: orderBy === undefined ? null : parseRowOrder(orderBy),
  };
}

/** `40%` or `0.4`, as a share from 0 to 1. */
function shareOf(flag: string, text: string): number {
  const [, digits, sign] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text.trim()) ?? [];
  const share = digits === undefined ? Number.NaN : Number(digits) / (sign === '%' ? 100 : 1);
  if (share >= 0 && share <= 1) return share;
  throw new Problem('setting.invalid', `"${text}" is no share`, {
    where: flag,
    next: 'write 40% or 0.4',
    exitCode: exitCodes.usage,
  });
}

/** The pilot and what it is judged by, beside the match rate. */
function pilotOf({ pilot, maxCostPerEmail }: RunFlags): Pick<RunOptions, 'pilot' | 'maxCostPerEmail'> {
  if (maxCostPerEmail === undefined) return { pilot: pilot ?? null, maxCostPerEmail: null };
  const credits = parseCredits(maxCostPerEmail);
  if (credits !== undefined && pilot !== undefined) return { pilot, maxCostPerEmail: formatCredits(credits) };
  throw new Problem(
    'setting.invalid',
    credits === undefined
      ? `"${maxCostPerEmail}" is not a number of credits`
      : 'only a pilot is judged by it',
    {
      where: '--max-cost-per-email',
      next: credits === undefined ? 'write a number such as 3 or 1.5' : 'add --pilot N, such as --pilot 200',
      exitCode: exitCodes.usage,
    },
  );
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

/** `phone,email` in a fixed order, so that the same options in another order give the same run key. */
function extrasOf<Name extends keyof typeof extraNames>(
  option: Name,
  text: string | undefined,
): ExtraNames<Name> {
  if (text === undefined) return [];
  const given = new Set(
    text
      .split(',')
      .map((name) => name.trim().toLowerCase())
      .filter((name) => name !== ''),
  );
  const names: ExtraNames<Name> = extraNames[option];
  const known = names.filter((name) => given.delete(name));
  if (given.size === 0 && known.length > 0) return known;
  throw new Problem('setting.invalid', `"${text}" is not what can be asked for`, {
    where: `--${option}`,
    next: `write ${names.join(', ')}, or ${names.join(',')}`,
    exitCode: exitCodes.usage,
  });
}

/** A waterfall's vendors have prices that the service does not fix: its owner has to say what one person may cost. */
function ceilingOf(text: string | undefined, waterfall: boolean): string | null {
  const usage = (what: string, next: string): Problem =>
    new Problem('credits.no-ceiling', what, {
      where: '--max-credits-per-person',
      next,
      exitCode: exitCodes.usage,
    });
  if (!waterfall) {
    if (text === undefined) return null;
    throw usage('only a waterfall has prices that need a ceiling', 'leave it out, or add --waterfall');
  }
  if (text === undefined) {
    throw usage(
      'a waterfall has no fixed price, and the run has no maximum per person',
      'add --max-credits-per-person, such as 20, or remove --waterfall',
    );
  }
  const credits = parseCredits(text);
  if (credits === undefined || credits === 0n)
    throw usage(`"${text}" is not a number of credits`, 'write a number above 0, such as 20 or 12.5');
  return formatCredits(credits);
}
