import { z } from 'zod';
import { checkedData, type CrmExport } from '../../domain/crm/crm.ts';
import { comparisonForm, displayForm } from '../../domain/identity/values/normalise.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { counted, nounFor } from '../../domain/text/format.ts';
import { shownHeader, shownHeaders } from '../../domain/text/header-name.ts';
import type { Columns } from './columns.ts';
import { fieldOfScope, filledCells, type FirstRows, type OptOutScope } from './fields.ts';
import { headerWords, patternTest } from './known-headers.ts';
import type { ExportMapping } from './mapping-file.ts';
import content from './opt-outs.json' with { type: 'json' };

const list = z.array(z.string().min(1));
const lists = z
  .union([list, z.record(z.string(), list)])
  .transform((given) => (Array.isArray(given) ? given : Object.values(given).flat()));

/** The table of headers and answers; its comment says what each list has. */
const schema = z.strictObject({
  comment: z.string(),
  /** Patterns of columns' names. */
  headers: z.record(
    z.enum([
      'refusals',
      'consents',
      'details',
      'email',
      'calls',
      'faxOrLetters',
      'letters',
      'unclear',
      'notUnclear',
    ]),
    lists,
  ),
  answers: z.strictObject({
    yes: list,
    no: list,
    none: list,
    consents: list,
    refusals: list,
    refusalSigns: list,
  }),
  /** Patterns of longer answers. */
  words: z.strictObject({ ofRefusal: list, ofConsent: list, negations: list }),
});

const { headers, answers, words: wordsOfAnswers } = checkedData('opt-outs.json', schema, content);
const testsOf = <Name extends string>(
  patterns: Readonly<Record<Name, string[]>>,
): Readonly<Record<Name, (words: string) => boolean>> =>
  Object.fromEntries(
    Object.entries<string[]>(patterns).map(([name, each]) => [name, patternTest(each)]),
  ) as Record<Name, (words: string) => boolean>;
const isAbout = testsOf(headers);
const has = testsOf(wordsOfAnswers);

/**
 * How a column states an opt-out. Its table in docs/exports.md says which values mean "opted out".
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
 * What a column states about opting out, by its name. If the name does not say what was refused, the opt-out forbids
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

/** When a cell of a column excludes its row, as the plan shows it. */
const exclusions: Readonly<Record<OptOutPolarity, string>> = {
  refusal: 'unless the cell says no',
  consent: 'unless the cell says yes',
  basis: 'if the cell says no',
  unclear: 'with any value',
};

/** What the plan shows for a column of this field: a column of consents says the opposite of its field. */
export function describedField(header: string, field: string, isGiven: boolean): string {
  if (field !== 'opted_out' && field !== 'opted_out_of_calls') return field;
  return `${field}, ${isGiven ? 'as the mapping file says' : exclusions[optOutOf(header)?.polarity ?? 'unclear']}`;
}

/** Whether a column could say who has consented or opted out, by a name that does not say what its values mean. */
function looksLikeConsent(header: string): boolean {
  const words = headerWords(header);
  const isOther = isAbout.notUnclear(words) || isAbout.details(words);
  return isAbout.unclear(words) && !isOther && !isAbout.faxOrLetters(words) && !isAbout.letters(words);
}

/** What a cell of an opt-out column says. Who has an answer that is not understood is treated as opted out. */
export type OptOutAnswer = 'opted out' | 'not opted out' | 'not understood';

/** The form in which the values of a mapping file are compared with cells. */
const valueForm = (text: string): string => displayForm(text).toLowerCase();
const formOf = (text: string): string => comparisonForm(text).normalize('NFC');

type Answer = keyof typeof answers;

/** What known answers state, in any spelling. Signs such as `✓` have no letters to compare. */
const knownAnswers: ReadonlyMap<string, Answer> = new Map(
  (['refusalSigns', 'refusals', 'consents', 'none', 'no', 'yes'] as const).flatMap((answer) =>
    answers[answer]
      .flatMap((text) => [valueForm(text), formOf(text)])
      .filter((form) => form !== '')
      .map((form) => [form, answer] as const),
  ),
);

const knownAnswer = (shown: string): Answer | undefined =>
  knownAnswers.get(shown) ?? knownAnswers.get(formOf(shown));

/** `2026-03-01`, `1.3.2026 10:00`, `2026年3月1日`, `1 Mar 2026`, a Unix time. */
const time =
  /^\d{1,4}[-./年] ?\d{1,2}[-./月] ?\d{1,4}|^\d{1,2}\.? \p{L}{3,12}\.? \d{4}|^\p{L}{3,12}\.? \d{1,2},? \d{4}|^\d{10,13}$/u;

/** A longer cell is a text, and its words are no answer. */
const longestAnswer = 200;

/**
 * What a cell says about opting out.
 *
 * @param values of the mapping file, by `valueForm`, that mean "opted out"; they replace the rule of the polarity
 */
export function optOutAnswer(
  cell: string,
  polarity: OptOutPolarity,
  values?: ReadonlySet<string>,
): OptOutAnswer {
  const shown = valueForm(cell);
  if (shown === '') return 'not opted out';
  if (values) return values.has(shown) ? 'opted out' : 'not opted out';
  const statement = statementOf(shown);
  if (statement === 'none') return 'not opted out';
  return polarity === 'unclear' ? 'not understood' : meanings[statement][polarity];
}

type Statement = 'consent' | 'refusal' | 'yes' | 'no' | 'words of consent' | 'other';
const [out, not, unread] = ['opted out', 'not opted out', 'not understood'] as const;

/** What a statement means in a column of each polarity. */
const meanings = {
  consent: { refusal: not, consent: not, basis: not },
  refusal: { refusal: out, consent: out, basis: out },
  yes: { refusal: out, consent: not, basis: not },
  no: { refusal: not, consent: out, basis: out },
  'words of consent': { refusal: unread, consent: not, basis: not },
  other: { refusal: unread, consent: unread, basis: not },
} as const satisfies Readonly<Record<Statement, unknown>>;

const statements = {
  yes: 'yes',
  no: 'no',
  none: 'none',
  consents: 'consent',
  refusals: 'refusal',
  refusalSigns: 'refusal',
} as const satisfies Readonly<Record<Answer, Statement | 'none'>>;

function statementOf(shown: string): Statement | 'none' {
  if (shown.length > longestAnswer) return 'other';
  const known = knownAnswer(shown);
  if (known !== undefined) return statements[known];
  if (time.test(shown)) return 'yes';
  const words = ` ${formOf(shown)} `;
  if (has.ofRefusal(words)) return 'refusal';
  if (!has.ofConsent(words)) return 'other';
  return has.negations(words) ? 'refusal' : 'words of consent';
}

const longestOptOut = 30;

/** Whether a cell says, in a column of any name, that the person has opted out. */
function statesOptOut(cell: string): boolean {
  return cell.length <= longestOptOut && knownAnswer(valueForm(cell)) === 'refusals';
}

export interface OptOutColumn extends OptOutMeaning {
  readonly column: number;
  /** The column's name for a reason or a warning. */
  readonly name: string;
  /** Values, by `valueForm`, that mean "opted out", in place of the rule of the polarity. */
  readonly values?: ReadonlySet<string>;
  readonly read: (cells: readonly string[]) => OptOutAnswer;
}

/** Answers repeat: an export has few different ones. */
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

/** The columns of opt-outs that a mapping file names. @throws Problem `mapping.opt-out-ignored` */
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

/** The content of a mapping file that lists the values of a column. */
function exampleOf(scope: OptOutScope, column: number | string, value = '"…"'): string {
  return `{"columns": {"${fieldOfScope[scope]}": {"column": ${column}, "values": [${value}]}}}`;
}

/**
 * Takes the free columns that say who has opted out: by their names, and by the values that the CRM writes. A column
 * whose name could be about consent, and which has no value in the first rows, is one of them: a value that comes later
 * counts as opted out.
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

/** A column with more different cells, or longer ones, is no flag. */
const mostFlags = 4;
const longestFlag = 40;

function isFlag(cells: readonly string[], rows: number): boolean {
  const different = new Set(cells);
  const isShort = different.size <= mostFlags && cells.every((cell) => cell.length <= longestFlag);
  return cells.length > 0 && (isShort || cells.length * 2 <= rows);
}

/**
 * Refuses a file with a free column in which people could have opted out, and of which nothing says how: the name is
 * about consent or a privacy law and the cells are those of a flag, or a cell says that the person has opted out.
 *
 * @throws Problem `mapping.consent-unclear`
 */
export function refuseUnclearConsents(columns: Columns, first: FirstRows): void {
  // A row with a surplus delimiter has cells in other columns.
  const rows = first.rows.filter((row) => row.length <= first.header.length);
  const unclear = freeColumns(columns, first).filter(([column, header]) => {
    const cells = filledCells(rows, column);
    return cells.some(statesOptOut) || (looksLikeConsent(header) && isFlag(cells, rows.length));
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

/** A warning names so many values at most. */
const shownValues = 5;

/** Counts the rows that each column excludes, the answers that are not understood, and the listed values. */
export class OptOutCounts {
  readonly #columns: readonly {
    readonly optOut: OptOutColumn;
    /** Values of the mapping file that no cell had yet. */
    readonly absent: Set<string>;
    optedOut: number;
    unread: number;
    firstUnread: string;
  }[];
  #rows = 0;

  constructor(optOuts: readonly OptOutColumn[]) {
    this.#columns = optOuts.map((optOut) => ({
      optOut,
      absent: new Set(optOut.values),
      optedOut: 0,
      unread: 0,
      firstUnread: '',
    }));
  }

  add(cells: readonly string[], row: number): void {
    this.#rows += 1;
    for (const counts of this.#columns) {
      const answer = counts.optOut.read(cells);
      if (answer === 'not opted out') continue;
      counts.optedOut += 1;
      if (counts.absent.size > 0) counts.absent.delete(valueForm(cells[counts.optOut.column]!));
      if (answer === 'opted out') continue;
      if (counts.unread === 0) counts.firstUnread = `row ${row}`;
      counts.unread += 1;
    }
  }

  /** For each column the rows that it excludes, and the listed values that no row has. */
  warnings(): string[] {
    return this.#columns.flatMap(({ optOut, absent, optedOut, unread: notRead, firstUnread }) => {
      const { column, name, scope } = optOut;
      const isMost = optedOut * 2 > this.#rows;
      const exclusion =
        `column "${name}" excludes ${optedOut} of ${counted(this.#rows, 'row')} ` +
        (scope === 'calls' ? 'from phone numbers' : 'as opted out') +
        (isMost ? ', most of the file' : '');
      const notUnderstood =
        `; ${counted(notRead, 'answer')} ${nounFor(notRead, 'is', 'are')} not understood and ` +
        `${nounFor(notRead, 'counts', 'count')} as opted out (the first is ${firstUnread})`;
      const correction =
        notRead > 0 || isMost
          ? `; to list the answers that mean "opted out": --mapping FILE with ${exampleOf(scope, column + 1)}`
          : '';
      const shown = [...absent].slice(0, shownValues).map((value) => `"${value}"`);
      const more = absent.size > shown.length ? ` and ${absent.size - shown.length} more` : '';
      return [
        ...(optedOut > 0 ? [exclusion + (notRead > 0 ? notUnderstood : '') + correction] : []),
        // A mistyped value pays for people who have opted out.
        ...(absent.size > 0
          ? [
              `no row has ${shown.join(', ')}${more} in column "${name}", which the mapping lists as opted out: ` +
                'check the spelling, because people with another value are paid for',
            ]
          : []),
      ];
    });
  }
}
