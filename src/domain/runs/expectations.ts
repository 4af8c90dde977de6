import { UsageProblem } from '../problem.ts';
import { formatCount, formatNumber, formatPercent } from '../text/format.ts';

/** What an export must be like before its run spends credits. Shares start at 0; null: not checked. */
interface Expectations {
  /** Minimum and maximum number of rows, as a share of the median of earlier runs. */
  readonly rows: { readonly least: number; readonly most: number | null } | null;
  /** Minimum share of filled cells of each column, as a share of the median in earlier runs. */
  readonly coverage: number | null;
  readonly malformed: number | null;
  /** True if the columns must be mapped to the same fields as in the latest earlier run. */
  readonly sameMapping: boolean;
  readonly notEmpty: boolean;
  /** Minimum number of earlier runs. With fewer, exports are not compared. */
  readonly fewestRuns: number;
  /** Minimum number of rows. A file or a median with fewer rows is not compared. */
  readonly fewestRows: number;
}

/** Counts of an export. They stay for comparisons with later exports after retention has removed the rows. */
export interface ExportProfile {
  readonly rows: number;
  readonly malformed: number;
  /** Number of readable rows that have a value, by field. */
  readonly filled: Readonly<Record<string, number>>;
}

/** The counts of an export and its mapping, as the run has stored them. */
export interface ProfiledExport {
  readonly runId: string;
  readonly profile: ExportProfile;
  /** The field to which each column is mapped. */
  readonly mapping: Readonly<Record<string, unknown>>;
}

/** Expectations that a schedule has if the operator chooses none. */
export const usualExpectations = 'usual';
/** Expectations for files of different senders: only damaged files are refused. */
export const usualExpectationsOfMixedFiles = 'usual,rows=any,coverage=any,mapping=any,empty=any';

const nothingExpected: Expectations = {
  rows: null,
  coverage: null,
  malformed: null,
  sameMapping: false,
  notEmpty: false,
  fewestRuns: 0,
  fewestRows: 0,
};
const usual: Expectations = {
  rows: { least: 0.5, most: 2 },
  coverage: 0.7,
  malformed: 0.1,
  sameMapping: true,
  notEmpty: true,
  fewestRuns: 3,
  fewestRows: 100,
};
/** Minimum share of filled cells in earlier runs. A column that is mostly empty is not compared. */
const leastUsualCoverage = 0.1;

/**
 * Reads `--expect`: `none`, `usual`, or rules such as `rows=50%..200%,malformed=5%`. A rule after `usual` replaces the
 * usual rule, and `any` removes it. Rules without `usual` apply from the first earlier run and to files of any size.
 *
 * @throws Problem `setting.invalid`
 */
export function parseExpectations(text: string): Expectations {
  let expected = nothingExpected;
  for (const [index, part] of text.split(',').entries()) {
    const [, name = '', value = ''] = /^([^=]*)(?:=(.*))?$/.exec(part.trim().toLowerCase()) ?? [];
    if (index === 0 && value === '' && (name === 'usual' || name === 'none'))
      expected = name === 'usual' ? usual : nothingExpected;
    else expected = { ...expected, ...ruleOf(name.trim(), value.trim(), part) };
  }
  return expected;
}

/** The members that one rule such as `rows=50%..200%` sets. @throws Problem `setting.invalid` */
function ruleOf(name: string, value: string, part: string): Partial<Expectations> {
  const share = value === 'any' ? null : shareOf(value);
  if (name === 'rows') {
    const [least, most] = value.split('..').map((each) => shareOf(each));
    if (value === 'any') return { rows: null };
    if (least !== undefined && (most !== undefined || !value.includes('..')))
      return { rows: { least, most: most ?? null } };
  }
  if (name === 'coverage' && share !== undefined) return { coverage: share };
  if (name === 'malformed' && share !== undefined) return { malformed: share };
  if (name === 'mapping' && (value === 'same' || value === 'any')) return { sameMapping: value === 'same' };
  if (name === 'empty' && (value === 'no' || value === 'any')) return { notEmpty: value === 'no' };
  throw new UsageProblem('setting.invalid', `"${part.trim()}" is not an expectation`, {
    where: '--expect',
    next: 'write none, usual, or rules such as rows=50%..200%,coverage=70%,malformed=5%,mapping=same,empty=no',
  });
}

/** Reads `70%` as 0.7; undefined for any other text. */
function shareOf(text: string): number | undefined {
  const percent = /^(\d+(?:\.\d+)?)\s*%$/.exec(text.trim())?.[1];
  return percent === undefined ? undefined : Number(percent) / 100;
}

/**
 * Returns the unmet expectations of an export, one sentence with counts for each.
 *
 * @param earlier ended runs of the same source, the newest first
 * @param shownColumn the name of a column for a log, because a header can contain a contact
 */
export function unmetExpectations(
  expected: Expectations,
  { profile, mapping }: Omit<ProfiledExport, 'runId'>,
  earlier: readonly ProfiledExport[],
  shownColumn: (name: string) => string,
): string[] {
  const { rows } = profile;
  const { fewestRows, fewestRuns } = expected;
  const isComparable = earlier.length >= Math.max(1, fewestRuns);
  const usualRows = median(earlier.map((each) => each.profile.rows));
  const isLarge = rows >= fewestRows;
  const isEmpty = expected.notEmpty && rows === 0 && earlier.length >= fewestRuns && usualRows >= fewestRows;
  const unmet =
    isComparable && usualRows >= fewestRows ? unmetRows(expected, rows, usualRows, earlier) : undefined;
  return [
    ...(unmet !== undefined ? [unmet] : isEmpty ? ['the file has no rows'] : []),
    ...(isComparable && isLarge ? unmetCoverage(expected, profile, earlier) : []),
    ...(isLarge ? unmetForm(expected, profile) : []),
    ...(isComparable && expected.sameMapping ? mappingChanges(mapping, earlier[0]!, shownColumn) : []),
  ];
}

/** Compares the number of rows with the median of earlier runs. */
function unmetRows(
  { rows: expected }: Expectations,
  rows: number,
  usualRows: number,
  earlier: readonly ProfiledExport[],
): string | undefined {
  if (!expected) return undefined;
  const least = Math.ceil(usualRows * expected.least);
  const most = expected.most === null ? Infinity : Math.floor(usualRows * expected.most);
  if (rows >= least && rows <= most) return undefined;
  const bound = rows < least ? `at least ${formatNumber(least)}` : `at most ${formatNumber(most)}`;
  return `${formatCount(rows, 'row')}: expected ${bound}, because ${medianText(earlier)} is ${formatNumber(usualRows)}`;
}

/** Compares the share of filled cells of each field with the median of earlier runs. */
function unmetCoverage(
  { coverage: least, fewestRows }: Expectations,
  profile: ExportProfile,
  earlier: readonly ProfiledExport[],
): string[] {
  const large = earlier.filter((each) => each.profile.rows > 0 && each.profile.rows >= fewestRows);
  const fields = new Set(large.flatMap((each) => Object.keys(each.profile.filled)));
  if (least === null || profile.rows === profile.malformed) return [];
  return [...fields].flatMap((field) => {
    const usualShare = median(large.map((each) => coverageOf(each.profile, field)));
    const share = coverageOf(profile, field);
    if (usualShare < leastUsualCoverage || share >= usualShare * least) return [];
    return [
      `${field} is filled in ${formatPercent(share)} of the rows: expected at least ` +
        `${formatPercent(usualShare * least)}, because ${medianText(large)} is ${formatPercent(usualShare)}`,
    ];
  });
}

/** Share of readable rows that have a value in the field, from 0 to 1. */
function coverageOf({ rows, malformed, filled }: ExportProfile, field: string): number {
  return rows === malformed ? 0 : (filled[field] ?? 0) / (rows - malformed);
}

/** Compares the share of malformed rows with the maximum. This needs no earlier run. */
function unmetForm({ malformed: most }: Expectations, { rows, malformed }: ExportProfile): string[] {
  if (most === null || malformed <= rows * most) return [];
  return [
    `${formatNumber(malformed)} of ${formatCount(rows, 'row')} are malformed (${formatPercent(malformed, rows)}): ` +
      `expected at most ${formatPercent(most)}`,
  ];
}

/** Names the fields that come from other columns than in the latest earlier run. */
function mappingChanges(
  mapping: ProfiledExport['mapping'],
  before: ProfiledExport,
  shownColumn: (name: string) => string,
): string[] {
  const [now, then] = [columnsByField(mapping), columnsByField(before.mapping)];
  const shown = (columns: readonly string[] = []): string =>
    columns.map(shownColumn).join(' and ') || 'no column';
  const changes = [...new Set([...then.keys(), ...now.keys()])].flatMap((field) =>
    now.get(field)?.join('\n') === then.get(field)?.join('\n')
      ? []
      : [`${field} from ${shown(then.get(field))} to ${shown(now.get(field))}`],
  );
  if (changes.length === 0) return [];
  return [`the mapping of the columns changed since run ${before.runId}: ${changes.join(', ')}`];
}

/** The columns of each field, sorted, because their order in the file does not matter. */
function columnsByField(mapping: ProfiledExport['mapping']): ReadonlyMap<string, readonly string[]> {
  const columns = new Map<string, string[]>();
  for (const name of Object.keys(mapping).sort()) {
    const field = String(mapping[name]);
    columns.set(field, [...(columns.get(field) ?? []), name]);
  }
  return columns;
}

function medianText(runs: readonly ProfiledExport[]): string {
  return runs.length === 1 ? 'the figure of the previous run' : `the median of ${runs.length} earlier runs`;
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const [low = 0, high = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
}
