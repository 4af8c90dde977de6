import type { CrmExport } from '../../domain/crm/crm.ts';
import { displayForm } from '../../domain/identity/values/normalise.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { formatCount, nounFor } from '../../domain/text/format.ts';
import { formatHeader, formatHeaders } from '../../domain/text/header-name.ts';
import type { HeaderColumns } from './columns.ts';
import { fieldOfOptOutScope, filledCells, type OptOutScope } from './fields.ts';
import { headerWords, compileHeaderPatterns, wordForm } from './known-headers.ts';
import type { ExportMapping } from './mapping-file.ts';
import table from './opt-outs.json' with { type: 'json' };

const { headers, answers, words: wordsOfAnswers } = table;

/** Compiles each list of patterns. A list may be divided by language. */
const testsOf = <Name extends string>(
  patterns: Readonly<Record<Name, object>>,
): Readonly<Record<Name, (words: string) => boolean>> =>
  Object.fromEntries(
    Object.entries<object>(patterns).map(([name, list]) => [
      name,
      compileHeaderPatterns(Object.values(list).flat()),
    ]),
  ) as Record<Name, (words: string) => boolean>;
const isAbout = testsOf(headers);
const has = testsOf(wordsOfAnswers);

/**
 * What a column states: a `refusal` ("Email Opt Out", "IsDeleted"), a `consent` ("Allow Emails?"), the `basis` of a
 * consent ("Consent date"), or `unclear` (only the name shows the topic, and the first rows are empty).
 * docs/guides/exports.md lists which values then mean "opted out".
 */
export type OptOutPolarity = 'refusal' | 'consent' | 'basis' | 'unclear';

export interface OptOutMeaning {
  readonly polarity: OptOutPolarity;
  readonly scope: OptOutScope;
}

/**
 * Derives from a column's name what it states about opting out. If the name leaves open what was refused, the opt-out
 * forbids processing.
 *
 * @returns undefined for another topic, such as fax or letters, which the product never sends
 */
export function optOutMeaning(header: string): OptOutMeaning | undefined {
  const words = headerWords(header);
  const isConsent = isAbout.consents(words) && (isAbout.details(words) ? 'basis' : 'consent');
  const polarity = isAbout.refusals(words) ? 'refusal' : isConsent;
  if (polarity === false || isAbout.letters(words)) return undefined;
  if (isAbout.email(words)) return { polarity, scope: 'processing' };
  if (isAbout.calls(words)) return { polarity, scope: 'calls' };
  return isAbout.faxOrLetters(words) ? undefined : { polarity, scope: 'processing' };
}

/** Which cells of a column exclude a row, as the plan says it. */
const exclusions: Readonly<Record<OptOutPolarity, string>> = {
  refusal: 'unless the cell says no',
  consent: 'unless the cell says yes',
  basis: 'if the cell says no',
  unclear: 'with any value',
};

/** Describes a field in the plan. For a column of consents, the text names the cells that exclude a row. */
export function describeOptOutField(header: string, field: string, isGiven: boolean): string {
  if (field !== 'opted_out' && field !== 'opted_out_of_calls') return field;
  return `${field}, ${isGiven ? 'as the mapping file says' : exclusions[optOutMeaning(header)?.polarity ?? 'unclear']}`;
}

/** True if a column may be about consent or opt-outs, and its name does not show what its values mean. */
function looksLikeConsent(header: string): boolean {
  const words = headerWords(header);
  const isOther = isAbout.notUnclear(words) || isAbout.details(words);
  return isAbout.unclear(words) && !isOther && !isAbout.faxOrLetters(words) && !isAbout.letters(words);
}

/** What a cell in an opt-out column means. `not understood` counts as opted out. */
export type OptOutAnswer = 'opted out' | 'not opted out' | 'not understood';

const [out, not, unread] = ['opted out', 'not opted out', 'not understood'] as const;

/** What each kind of answer means, by the polarity of its column. The last two kinds have no list of answers. */
const meanings = {
  yes: { refusal: out, consent: not, basis: not, unclear: unread },
  no: { refusal: not, consent: out, basis: out, unclear: unread },
  none: { refusal: not, consent: not, basis: not, unclear: not },
  consents: { refusal: not, consent: not, basis: not, unclear: unread },
  refusals: { refusal: out, consent: out, basis: out, unclear: unread },
  refusalSigns: { refusal: out, consent: out, basis: out, unclear: unread },
  wordsOfConsent: { refusal: unread, consent: not, basis: not, unclear: unread },
  other: { refusal: unread, consent: unread, basis: not, unclear: unread },
} as const satisfies Record<string, Record<OptOutPolarity, OptOutAnswer>>;
type Answer = keyof typeof meanings;

/** Returns the form in which values of a mapping file are compared with cells. */
const valueForm = (text: string): string => displayForm(text).toLowerCase();

/** Known answers in any spelling. If several lists have an answer, the last list wins. Signs such as `✓` stay. */
const knownAnswers: ReadonlyMap<string, Answer> = new Map(
  (['refusalSigns', 'refusals', 'consents', 'none', 'no', 'yes'] as const).flatMap((answer) =>
    answers[answer]
      .flatMap((text) => [valueForm(text), wordForm(text)])
      .filter((form) => form !== '')
      .map((form) => [form, answer] as const),
  ),
);

const knownAnswer = (shown: string): Answer | undefined =>
  knownAnswers.get(shown) ?? knownAnswers.get(wordForm(shown));

/** Matches a time, such as `2026-03-01`, `1.3.2026 10:00`, `2026年3月1日`, `1 Mar 2026` or a Unix time. */
const time =
  /^\d{1,4}[-./年] ?\d{1,2}[-./月] ?\d{1,4}|^\d{1,2}\.? \p{L}{3,12}\.? \d{4}|^\p{L}{3,12}\.? \d{1,2},? \d{4}|^\d{10,13}$/u;

/** Maximum length of an answer. A longer cell is free text. */
const longestAnswer = 200;

/** Finds the meaning of a cell. @param values values (by `valueForm`) of a mapping file, which replace the rule */
export function readOptOutCell(
  cell: string,
  polarity: OptOutPolarity,
  values?: ReadonlySet<string>,
): OptOutAnswer {
  const shown = valueForm(cell);
  if (shown === '') return not;
  if (values) return values.has(shown) ? out : not;
  return meanings[answerOf(shown)][polarity];
}

/** Finds the kind of an answer: a known one, a time (which means yes), or words in a longer text. */
function answerOf(shown: string): Answer {
  if (shown.length > longestAnswer) return 'other';
  const known = knownAnswer(shown) ?? (time.test(shown) ? 'yes' : undefined);
  if (known !== undefined) return known;
  const words = ` ${wordForm(shown)} `;
  if (has.ofRefusal(words)) return 'refusals';
  if (!has.ofConsent(words)) return 'other';
  return has.negations(words) ? 'refusals' : 'wordsOfConsent';
}

/** Maximum length of a cell that `statesOptOut` considers. */
const longestOptOut = 30;

/** True if a cell states an opt-out, whatever its column. */
function statesOptOut(cell: string): boolean {
  return cell.length <= longestOptOut && knownAnswer(valueForm(cell)) === 'refusals';
}

export interface OptOutColumn extends OptOutMeaning {
  readonly column: number;
  readonly name: string;
  /** Values (by `valueForm`) of a mapping file that mean "opted out". They replace the rule of the polarity. */
  readonly values?: ReadonlySet<string>;
  readonly read: (cells: readonly string[]) => OptOutAnswer;
}

/** Maximum number of different cells with a cached meaning. Most exports have fewer. */
const maxRemembered = 1_000;
const longestRemembered = 100;

/** Makes a column whose `read` caches the meaning of cells. @param given values of a mapping file */
function optOutColumn(
  columns: HeaderColumns,
  column: number,
  meaning: OptOutMeaning,
  given?: readonly string[],
): OptOutColumn {
  const values = given && new Set(given.map(valueForm));
  const remembered = new Map<string, OptOutAnswer>();
  const read = (cells: readonly string[]): OptOutAnswer => {
    const cell = cells[column] ?? '';
    if (cell === '') return 'not opted out';
    const known = remembered.get(cell);
    if (known !== undefined) return known;
    const answer = readOptOutCell(cell, meaning.polarity, values);
    if (remembered.size < maxRemembered && cell.length <= longestRemembered) remembered.set(cell, answer);
    return answer;
  };
  return { column, name: formatHeader(columns.nameOf(column)), ...meaning, ...(values && { values }), read };
}

/** Returns the opt-out columns that a mapping file names. @throws Problem `mapping.opt-out-ignored` */
export function optOutsOfMapping(columns: HeaderColumns, mapping: ExportMapping | undefined): OptOutColumn[] {
  const given = (['processing', 'calls'] as const).flatMap((scope) =>
    [mapping?.columns?.[fieldOfOptOutScope[scope]] ?? []].flat().map((entry) => {
      const { column: reference, values } = typeof entry === 'object' ? entry : { column: entry };
      const [column] = columns.take(reference);
      const polarity = optOutMeaning(columns.nameOf(column!))?.polarity ?? 'refusal';
      return optOutColumn(columns, column!, { polarity, scope }, values);
    }),
  );
  for (const column of columns.take(mapping?.ignore ?? [])) {
    const meaning = optOutMeaning(columns.nameOf(column));
    if (meaning === undefined) continue;
    const what = `column "${formatHeader(columns.nameOf(column))}" says who has opted out, and cannot be ignored`;
    throw new UsageProblem('mapping.opt-out-ignored', what, {
      where: 'ignore in the mapping file',
      next: `list the values that mean "opted out": ${exampleOf(meaning.scope, '"…"', '"yes"')}`,
    });
  }
  return given;
}

/** Formats the entry of a mapping file that lists the opt-out values of a column. */
function exampleOf(scope: OptOutScope, column: number | string, value = '"…"'): string {
  return `{"columns": {"${fieldOfOptOutScope[scope]}": {"column": ${column}, "values": [${value}]}}}`;
}

/** Assigns columns that state opt-outs. An empty one is assigned too, so that later values count as opted out. */
export function takeOptOutColumns(columns: HeaderColumns, known: CrmExport | undefined): OptOutColumn[] {
  const { rows } = columns.sample;
  const ofCrm = Object.entries(known?.optedOut ?? {}).flatMap(([header, values]) =>
    columns
      .claim('opted_out', [header])
      .map((column) => optOutColumn(columns, column, { polarity: 'consent', scope: 'processing' }, values)),
  );
  const named = columns.free().flatMap(([column, header]): OptOutColumn[] => {
    const isEmpty = rows.length > 0 && filledCells(rows, column).length === 0;
    const unclear: OptOutMeaning = { polarity: 'unclear', scope: 'processing' };
    const meaning = optOutMeaning(header) ?? (isEmpty && looksLikeConsent(header) ? unclear : undefined);
    if (meaning === undefined) return [];
    columns.take(column + 1);
    return [optOutColumn(columns, column, meaning)];
  });
  return [...named, ...ofCrm];
}

/** Refuses a file if a free column may state opt-outs in an unknown form. @throws Problem `mapping.consent-unclear` */
export function refuseUnclearConsents(columns: HeaderColumns): void {
  const { sample } = columns;
  // In a row with an extra delimiter, cells are in the wrong columns.
  const rows = sample.rows.filter((row) => row.length <= sample.header.length);
  const unclear = columns.free().filter(([column, header]) => {
    const cells = filledCells(rows, column);
    return cells.some(statesOptOut) || (looksLikeConsent(header) && cells.length > 0);
  });
  if (unclear.length === 0) return;
  const names = formatHeaders(unclear.map(([, header]) => header));
  const numbers = unclear.map(([column]) => column + 1);
  const entries = numbers.map((number) => `{"column": ${number}, "values": ["…"]}`);
  const may = `${formatCount(unclear.length, 'column')} may say who has consented or opted out`;
  const what = `${may}, and no rule says how: ${names}`;
  throw new UsageProblem('mapping.consent-unclear', what, {
    where: columns.where,
    next:
      'say in a mapping file (--mapping FILE) what each of these columns means: list the values that mean ' +
      `"opted out", {"columns": {"opted_out": ${entries.length === 1 ? entries[0] : `[${entries.join(', ')}]`}}}, ` +
      `or ignore it: {"ignore": [${numbers.join(', ')}]}`,
  });
}

/** Counts rows that each opt-out column excludes, answers that were not understood, and listed values without a row. */
export function countOptOuts(optOuts: readonly OptOutColumn[]) {
  const columns = optOuts.map((optOut) => ({
    optOut,
    /** Values of the mapping file that no cell has had yet. */
    absent: new Set(optOut.values),
    optedOut: 0,
    unread: 0,
  }));
  let rows = 0;

  function add(cells: readonly string[]): void {
    rows += 1;
    for (const counts of columns) {
      const answer = counts.optOut.read(cells);
      if (answer === not) continue;
      counts.optedOut += 1;
      if (answer === unread) counts.unread += 1;
      if (counts.absent.size > 0) counts.absent.delete(valueForm(cells[counts.optOut.column]!));
    }
  }

  /** Returns a warning for each column that excludes rows, and for listed values that no row has. */
  function warnings(): string[] {
    return columns.flatMap(({ optOut: { column, name, scope }, absent, optedOut, unread: notRead }) => {
      const from = scope === 'calls' ? 'from phone numbers' : 'as opted out';
      const exclusion = `column "${name}" excludes ${optedOut} of ${formatCount(rows, 'row')} ${from}`;
      const notUnderstood =
        notRead > 0
          ? `; ${formatCount(notRead, 'answer')} ${nounFor(notRead, 'is', 'are')} not understood`
          : '';
      const correction =
        notRead > 0 || optedOut * 2 > rows
          ? `; to list the answers that mean "opted out": --mapping FILE with ${exampleOf(scope, column + 1)}`
          : '';
      return [
        ...(optedOut > 0 ? [exclusion + notUnderstood + correction] : []),
        // A typing error in a listed value would let the run look up people who opted out.
        ...(absent.size > 0
          ? [
              `no row has ${formatHeaders([...absent].map((value) => `"${value}"`))} in column "${name}", which the ` +
                'mapping lists as opted out: check the spelling, because people with another value are paid for',
            ]
          : []),
      ];
    });
  }

  return { add, warnings };
}
