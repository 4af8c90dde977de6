import type { CrmExport } from '../../domain/crm/crm.ts';
import { displayForm } from '../../domain/identity/values/normalise.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { counted, nounFor } from '../../domain/text/format.ts';
import { shownHeader, shownHeaders } from '../../domain/text/header-name.ts';
import type { Columns } from './columns.ts';
import { fieldOfScope, filledCells, type FirstRows, type OptOutScope } from './fields.ts';
import { headerWords, patternTest, wordForm } from './known-headers.ts';
import type { ExportMapping } from './mapping-file.ts';
import table from './opt-outs.json' with { type: 'json' };

const { headers, answers, words: wordsOfAnswers } = table;

/** Compiles the patterns of each list. A list may be divided by language. */
const testsOf = <Name extends string>(
  patterns: Readonly<Record<Name, object>>,
): Readonly<Record<Name, (words: string) => boolean>> =>
  Object.fromEntries(
    Object.entries<object>(patterns).map(([name, list]) => [name, patternTest(Object.values(list).flat())]),
  ) as Record<Name, (words: string) => boolean>;
const isAbout = testsOf(headers);
const has = testsOf(wordsOfAnswers);

/**
 * How a column states an opt-out. Its table in docs/guides/exports.md says which values mean "opted out".
 *
 * - `refusal`: the column states a refusal ("Email Opt Out", "Do not allow Emails", "Unsubscribed Time", "IsDeleted").
 * - `consent`: the column states a consent ("Allow Emails?", "Marketing status").
 * - `basis`: the column describes a consent ("Consent date", "Legal basis …").
 * - `unclear`: the name does not say which of these it is, and the first rows have no value.
 */
export type OptOutPolarity = 'refusal' | 'consent' | 'basis' | 'unclear';

export interface OptOutMeaning {
  readonly polarity: OptOutPolarity;
  readonly scope: OptOutScope;
}

/**
 * What a column says about opting out, by its name. If the name does not say what was refused, the opt-out forbids
 * processing.
 *
 * @returns undefined if the column is about something else, or about fax or letters, which the product never sends
 */
export function optOutOf(header: string): OptOutMeaning | undefined {
  const words = headerWords(header);
  const isConsent = isAbout.consents(words) && (isAbout.details(words) ? 'basis' : 'consent');
  const polarity = isAbout.refusals(words) ? 'refusal' : isConsent;
  if (polarity === false || isAbout.letters(words)) return undefined;
  if (isAbout.email(words)) return { polarity, scope: 'processing' };
  if (isAbout.calls(words)) return { polarity, scope: 'calls' };
  return isAbout.faxOrLetters(words) ? undefined : { polarity, scope: 'processing' };
}

/** Which cells of a column exclude a row, as the plan shows it. */
const exclusions: Readonly<Record<OptOutPolarity, string>> = {
  refusal: 'unless the cell says no',
  consent: 'unless the cell says yes',
  basis: 'if the cell says no',
  unclear: 'with any value',
};

/** What the plan shows for a column of this field. A column of consents means the opposite of its field. */
export function describedField(header: string, field: string, isGiven: boolean): string {
  if (field !== 'opted_out' && field !== 'opted_out_of_calls') return field;
  return `${field}, ${isGiven ? 'as the mapping file says' : exclusions[optOutOf(header)?.polarity ?? 'unclear']}`;
}

/** Whether a column may be about consent or opt-outs without a name that says what its values mean. */
function looksLikeConsent(header: string): boolean {
  const words = headerWords(header);
  const isOther = isAbout.notUnclear(words) || isAbout.details(words);
  return isAbout.unclear(words) && !isOther && !isAbout.faxOrLetters(words) && !isAbout.letters(words);
}

/** The meaning of a cell in an opt-out column. An answer that is not understood counts as opted out. */
export type OptOutAnswer = 'opted out' | 'not opted out' | 'not understood';

const [out, not, unread] = ['opted out', 'not opted out', 'not understood'] as const;

/** The meaning of an answer in a column of each polarity: of known answers, and of others by their words. */
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

/** The form in which the values of a mapping file are compared with cells. */
const valueForm = (text: string): string => displayForm(text).toLowerCase();

/** Known answers in any spelling. The last list with an answer wins. Signs such as `✓` are compared as they are. */
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

/** `2026-03-01`, `1.3.2026 10:00`, `2026年3月1日`, `1 Mar 2026`, a Unix time. */
const time =
  /^\d{1,4}[-./年] ?\d{1,2}[-./月] ?\d{1,4}|^\d{1,2}\.? \p{L}{3,12}\.? \d{4}|^\p{L}{3,12}\.? \d{1,2},? \d{4}|^\d{10,13}$/u;

/** A longer cell is free text, not an answer. */
const longestAnswer = 200;

/**
 * The meaning of a cell in an opt-out column.
 *
 * @param values values of the mapping file (by `valueForm`) that mean "opted out", instead of the rule of the polarity
 */
export function optOutAnswer(
  cell: string,
  polarity: OptOutPolarity,
  values?: ReadonlySet<string>,
): OptOutAnswer {
  const shown = valueForm(cell);
  if (shown === '') return not;
  if (values) return values.has(shown) ? out : not;
  return meanings[answerOf(shown)][polarity];
}

function answerOf(shown: string): Answer {
  if (shown.length > longestAnswer) return 'other';
  const known = knownAnswer(shown) ?? (time.test(shown) ? 'yes' : undefined);
  if (known !== undefined) return known;
  const words = ` ${wordForm(shown)} `;
  if (has.ofRefusal(words)) return 'refusals';
  if (!has.ofConsent(words)) return 'other';
  return has.negations(words) ? 'refusals' : 'wordsOfConsent';
}

const longestOptOut = 30;

/** Whether a cell in any column says that the person has opted out. */
function statesOptOut(cell: string): boolean {
  return cell.length <= longestOptOut && knownAnswer(valueForm(cell)) === 'refusals';
}

export interface OptOutColumn extends OptOutMeaning {
  readonly column: number;
  /** The name of the column for reasons and warnings. */
  readonly name: string;
  /** Values (by `valueForm`) that mean "opted out", instead of the rule of the polarity. */
  readonly values?: ReadonlySet<string>;
  readonly read: (cells: readonly string[]) => OptOutAnswer;
}

/** Most exports have few different answers. */
const mostRemembered = 1_000;
const longestRemembered = 100;

function optOutColumn(
  columns: Columns,
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
    const answer = optOutAnswer(cell, meaning.polarity, values);
    if (remembered.size < mostRemembered && cell.length <= longestRemembered) remembered.set(cell, answer);
    return answer;
  };
  return { column, name: shownHeader(columns.nameOf(column)), ...meaning, ...(values && { values }), read };
}

/** The opt-out columns of a mapping file. @throws Problem `mapping.opt-out-ignored` */
export function givenOptOuts(columns: Columns, mapping: ExportMapping | undefined): OptOutColumn[] {
  const given = (['processing', 'calls'] as const).flatMap((scope) =>
    [mapping?.columns?.[fieldOfScope[scope]] ?? []].flat().map((entry) => {
      const { column: reference, values } = typeof entry === 'object' ? entry : { column: entry };
      const [column] = columns.take(reference);
      const polarity = optOutOf(columns.nameOf(column!))?.polarity ?? 'refusal';
      return optOutColumn(columns, column!, { polarity, scope }, values);
    }),
  );
  for (const column of columns.take(mapping?.ignore ?? [])) {
    const meaning = optOutOf(columns.nameOf(column));
    if (meaning === undefined) continue;
    const what = `column "${shownHeader(columns.nameOf(column))}" says who has opted out, and cannot be ignored`;
    throw new UsageProblem('mapping.opt-out-ignored', what, {
      where: 'ignore in the mapping file',
      next: `list the values that mean "opted out": ${exampleOf(meaning.scope, '"…"', '"yes"')}`,
    });
  }
  return given;
}

/** An example of a mapping file that lists the values of a column. */
function exampleOf(scope: OptOutScope, column: number | string, value = '"…"'): string {
  return `{"columns": {"${fieldOfScope[scope]}": {"column": ${column}, "values": [${value}]}}}`;
}

/**
 * Takes the free columns that are about opting out, by their names and by values that the CRM writes. A column that may
 * be about consent and is empty in the first rows is taken as well: later values count as opted out.
 */
export function takeOptOuts(
  columns: Columns,
  first: FirstRows,
  known: CrmExport | undefined,
): OptOutColumn[] {
  const ofCrm = Object.entries(known?.optedOut ?? {}).flatMap(([header, values]) =>
    columns
      .claim('opted_out', [header])
      .map((column) => optOutColumn(columns, column, { polarity: 'consent', scope: 'processing' }, values)),
  );
  const named = freeColumns(columns, first).flatMap(([column, header]): OptOutColumn[] => {
    const isEmpty = first.rows.length > 0 && filledCells(first.rows, column).length === 0;
    const unclear: OptOutMeaning = { polarity: 'unclear', scope: 'processing' };
    const meaning = optOutOf(header) ?? (isEmpty && looksLikeConsent(header) ? unclear : undefined);
    if (meaning === undefined) return [];
    columns.take(column + 1);
    return [optOutColumn(columns, column, meaning)];
  });
  return [...named, ...ofCrm];
}

function freeColumns(columns: Columns, { header }: FirstRows): (readonly [number, string])[] {
  return [...header.entries()].filter(([column]) => columns.isFree(column));
}

/**
 * Refuses a file with a free column that may hold opt-outs in an unknown form: its name is about consent or a privacy
 * law, or a cell says that the person has opted out.
 *
 * @throws Problem `mapping.consent-unclear`
 */
export function refuseUnclearConsents(columns: Columns, first: FirstRows): void {
  // A row with an extra delimiter has its cells in the wrong columns.
  const rows = first.rows.filter((row) => row.length <= first.header.length);
  const unclear = freeColumns(columns, first).filter(([column, header]) => {
    const cells = filledCells(rows, column);
    return cells.some(statesOptOut) || (looksLikeConsent(header) && cells.length > 0);
  });
  if (unclear.length === 0) return;
  const names = shownHeaders(unclear.map(([, header]) => header));
  const numbers = unclear.map(([column]) => column + 1);
  const entries = numbers.map((number) => `{"column": ${number}, "values": ["…"]}`);
  throw new UsageProblem(
    'mapping.consent-unclear',
    `${counted(unclear.length, 'column')} may say who has consented or opted out, and no rule says how: ${names}`,
    {
      where: columns.where(),
      next:
        'say in a mapping file (--mapping FILE) what each of these columns means: list the values that mean ' +
        `"opted out", {"columns": {"opted_out": ${entries.length === 1 ? entries[0] : `[${entries.join(', ')}]`}}}, ` +
        `or ignore it: {"ignore": [${numbers.join(', ')}]}`,
    },
  );
}

/** Counts for each column the excluded rows, the answers that were not understood, and the rows with listed values. */
export class OptOutCounts {
  readonly #columns: readonly {
    readonly optOut: OptOutColumn;
    /** Values of the mapping file that no cell has had so far. */
    readonly absent: Set<string>;
    optedOut: number;
    unread: number;
  }[];
  #rows = 0;

  constructor(optOuts: readonly OptOutColumn[]) {
    this.#columns = optOuts.map((optOut) => ({
      optOut,
      absent: new Set(optOut.values),
      optedOut: 0,
      unread: 0,
    }));
  }

  add(cells: readonly string[]): void {
    this.#rows += 1;
    for (const counts of this.#columns) {
      const answer = counts.optOut.read(cells);
      if (answer === not) continue;
      counts.optedOut += 1;
      if (answer === unread) counts.unread += 1;
      if (counts.absent.size > 0) counts.absent.delete(valueForm(cells[counts.optOut.column]!));
    }
  }

  /** Warnings for each column: the excluded rows, and listed values that no row has. */
  warnings(): string[] {
    return this.#columns.flatMap(({ optOut: { column, name, scope }, absent, optedOut, unread: notRead }) => {
      const from = scope === 'calls' ? 'from phone numbers' : 'as opted out';
      const exclusion = `column "${name}" excludes ${optedOut} of ${counted(this.#rows, 'row')} ${from}`;
      const notUnderstood =
        notRead > 0 ? `; ${counted(notRead, 'answer')} ${nounFor(notRead, 'is', 'are')} not understood` : '';
      const correction =
        notRead > 0 || optedOut * 2 > this.#rows
          ? `; to list the answers that mean "opted out": --mapping FILE with ${exampleOf(scope, column + 1)}`
          : '';
      return [
        ...(optedOut > 0 ? [exclusion + notUnderstood + correction] : []),
        // If a listed value has a typing error, people who opted out would be asked for.
        ...(absent.size > 0
          ? [
              `no row has ${shownHeaders([...absent].map((value) => `"${value}"`))} in column "${name}", which the ` +
                'mapping lists as opted out: check the spelling, because people with another value are paid for',
            ]
          : []),
      ];
    });
  }
}
