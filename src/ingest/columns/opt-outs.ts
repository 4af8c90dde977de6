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
const byLanguage = z.record(z.string(), list);

const schema = z.strictObject({
  comment: z.string(),
  /** Patterns of columns' names. */
  headers: z.strictObject({
    refusals: byLanguage,
    consents: byLanguage,
    /** The date, source or reason of a refusal or consent. The cells of such a column are no answers. */
    details: byLanguage,
    email: list,
    calls: list,
    faxOrLetters: list,
    /** Letters that a CRM calls mails. */
    letters: list,
    /** Words of consent, opting out and privacy laws that do not say what a value means. */
    unclear: byLanguage,
    /** Other meanings of these words. */
    notUnclear: list,
  }),
  answers: z.strictObject({
    /** In each language. No abbreviation that means "yes" in another one: `e` is yes in Turkish and no in Finnish. */
    yes: list,
    no: list,
    /** Nothing was answered. */
    none: list,
    /** A consent, or that a refusal was not given. */
    consents: list,
    /** A refusal, in a column of any name. */
    refusals: list,
    refusalSigns: list,
    /** Patterns of longer answers. */
    wordsOfRefusal: list,
    wordsOfConsent: list,
    negations: list,
  }),
});

const { headers, answers } = checkedData('opt-outs.json', schema, content);
const testOf = (patterns: Record<string, readonly string[]>): ((words: string) => boolean) =>
  patternTest(Object.values(patterns).flat());

const isRefusal = testOf(headers.refusals);
const isConsent = testOf(headers.consents);
const isDetail = testOf(headers.details);
const isAboutEmail = patternTest(headers.email);
const isAboutCalls = patternTest(headers.calls);
const isAboutFaxOrLetters = patternTest([...headers.faxOrLetters, ...headers.letters]);
const isAboutLetters = patternTest(headers.letters);
const isUnclear = testOf(headers.unclear);
const isNotUnclear = patternTest(headers.notUnclear);

/**
 * How a column states an opt-out.
 *
 * - `refusal`: the column states a refusal ("Email Opt Out", "Do not allow Emails", "Unsubscribed Time", "IsDeleted"):
 *   every value except a plain no means opted out.
 * - `consent`: the column states a consent ("Allow Emails?", "Marketing status"): every value means opted out, except a
 *   plain yes, a word of consent and the date of a consent.
 * - `basis`: the column describes a consent ("Consent date", "Legal basis …"): only a plain no or a word of refusal
 *   means opted out.
 * - `unclear`: the name does not say which of these it is, and the first rows have no value: every value means opted
 *   out.
 *
 * An empty cell means neither.
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
  const polarity = polarityOf(words);
  if (polarity === undefined || isAboutLetters(words)) return undefined;
  if (isAboutEmail(words)) return { polarity, scope: 'processing' };
  if (isAboutCalls(words)) return { polarity, scope: 'calls' };
  return isAboutFaxOrLetters(words) ? undefined : { polarity, scope: 'processing' };
}

function polarityOf(words: string): OptOutPolarity | undefined {
  if (isRefusal(words)) return 'refusal';
  if (!isConsent(words)) return undefined;
  return isDetail(words) ? 'basis' : 'consent';
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
  return isUnclear(words) && !isNotUnclear(words) && !isDetail(words) && !isAboutFaxOrLetters(words);
}

/** What a cell of an opt-out column says. Who has an answer that is not understood is treated as opted out. */
export type OptOutAnswer = 'opted out' | 'not opted out' | 'not understood';

const formOf = (text: string): string => comparisonForm(text).normalize('NFC');

/** The form in which the values of a mapping file are compared with cells. */
function valueForm(text: string): string {
  return displayForm(text).toLowerCase();
}

type Statement =
  | 'yes'
  | 'no'
  | 'none'
  | 'consent'
  | 'refusal'
  | 'sign'
  | 'time'
  | 'words of consent'
  | 'other';

/** What known answers state, in any spelling. Signs such as `✓` have no letters to compare. */
const statements = new Map<string, Statement>(
  Object.entries({
    sign: answers.refusalSigns,
    refusal: answers.refusals,
    consent: answers.consents,
    none: answers.none,
    no: answers.no,
    yes: answers.yes,
  } satisfies Partial<Record<Statement, readonly string[]>>).flatMap(([statement, texts]) =>
    texts
      .flatMap((text) => [valueForm(text), formOf(text)])
      .filter((form) => form !== '')
      .map((form) => [form, statement as Statement] as const),
  ),
);

const hasRefusal = patternTest(answers.wordsOfRefusal);
const hasConsent = patternTest(answers.wordsOfConsent);
const hasNegation = patternTest(answers.negations);

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
  return meanings[statementOf(shown)][polarity];
}

const [out, not, unread] = ['opted out', 'not opted out', 'not understood'] as const;

/** What a statement means in a column of each polarity. */
const meanings: Readonly<Record<Statement, Readonly<Record<OptOutPolarity, OptOutAnswer>>>> = {
  none: { refusal: not, consent: not, basis: not, unclear: not },
  consent: { refusal: not, consent: not, basis: not, unclear: unread },
  refusal: { refusal: out, consent: out, basis: out, unclear: unread },
  sign: { refusal: out, consent: out, basis: out, unclear: unread },
  yes: { refusal: out, consent: not, basis: not, unclear: unread },
  time: { refusal: out, consent: not, basis: not, unclear: unread },
  no: { refusal: not, consent: out, basis: out, unclear: unread },
  'words of consent': { refusal: unread, consent: not, basis: not, unclear: unread },
  other: { refusal: unread, consent: unread, basis: not, unclear: unread },
};

function statementOf(shown: string): Statement {
  if (shown.length > longestAnswer) return 'other';
  const form = formOf(shown);
  const known = statements.get(shown) ?? statements.get(form);
  if (known !== undefined) return known;
  if (time.test(shown)) return 'time';
  const words = ` ${form} `;
  if (hasRefusal(words)) return 'refusal';
  if (hasConsent(words)) return hasNegation(words) ? 'refusal' : 'words of consent';
  return 'other';
}

const longestOptOut = 30;

/** Whether a cell says, in a column of any name, that the person has opted out. */
function statesOptOut(cell: string): boolean {
  if (cell.length > longestOptOut) return false;
  const shown = valueForm(cell);
  return (statements.get(shown) ?? statements.get(formOf(shown))) === 'refusal';
}

export interface OptOutColumn extends OptOutMeaning {
  readonly column: number;
  /** The column's name for a reason or a warning. */
  readonly name: string;
  /** Values, by `valueForm`, that mean "opted out", in place of the rule of the polarity. */
  readonly values?: ReadonlySet<string>;
  /** The column has the time, reason or source of opt-outs, so that any text is an answer. */
  readonly isDescription?: boolean;
}

function optOutColumn(
  columns: Columns,
  column: number,
  meaning: OptOutMeaning,
  values?: readonly string[],
): OptOutColumn {
  const header = columns.nameOf(column);
  const isDescription = isDetail(headerWords(header));
  const read = { column, name: shownHeader(header), ...meaning, isDescription };
  return values === undefined ? read : { ...read, values: new Set(values.map(valueForm)) };
}

/** The columns of opt-outs that a mapping file names. @throws Problem `mapping.opt-out-ignored` */
export function givenOptOuts(columns: Columns, mapping: ExportMapping | undefined): OptOutColumn[] {
  const given = (['processing', 'calls'] as const).flatMap((scope) =>
    [mapping?.columns?.[fieldOfScope[scope]] ?? []].flat().map((entry) => {
      const [reference, values] =
        typeof entry === 'object' ? [entry.column, entry.values] : [entry, undefined];
      const [column] = columns.take(reference);
      const polarity = optOutOf(columns.nameOf(column!))?.polarity ?? 'refusal';
      return optOutColumn(columns, column!, { polarity, scope }, values);
    }),
  );
  refuseIgnoredOptOuts(columns, mapping?.ignore);
  return given;
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
    const isUnclearColumn = isEmpty && looksLikeConsent(header);
    const meaning =
      optOutOf(header) ??
      (isUnclearColumn ? ({ polarity: 'unclear', scope: 'processing' } as const) : undefined);
    if (meaning === undefined) return [];
    columns.take(column + 1);
    return [optOutColumn(columns, column, meaning)];
  });
  return [...named, ...ofCrm];
}

function freeColumns(columns: Columns, { header }: FirstRows): (readonly [number, string])[] {
  return [...header.entries()].filter(([column]) => columns.isFree(column));
}

function refuseIgnoredOptOuts(columns: Columns, ignore: ExportMapping['ignore']): void {
  if (ignore === undefined) return;
  for (const column of columns.take(ignore)) {
    const meaning = optOutOf(columns.nameOf(column));
    if (meaning === undefined) continue;
    const forbidden = meaning.scope === 'calls' ? 'called' : 'processed';
    throw new UsageProblem(
      'mapping.opt-out-ignored',
      `column "${shownHeader(columns.nameOf(column))}" says who must not be ${forbidden}, and cannot be ignored`,
      {
        where: 'ignore in the mapping file',
        next:
          `list the values that mean "opted out": {"columns": {"${fieldOfScope[meaning.scope]}": {"column": "…", ` +
          '"values": ["yes"]}}}',
      },
    );
  }
}

/** A column with more different cells, or longer ones, is no flag. */
const mostFlags = 4;
const longestFlag = 40;

/**
 * Refuses a file with a free column in which people could have opted out, and of which nothing says how: the name is
 * about consent or a privacy law and the cells are those of a flag, or a cell says that the person has opted out.
 *
 * @throws Problem `mapping.consent-unclear`
 */
export function refuseUnclearConsents(columns: Columns, first: FirstRows): void {
  // A row with a surplus delimiter has cells in other columns.
  const rows = first.rows.filter((row) => row.length <= first.header.length);
  const unclear = freeColumns(columns, first).flatMap(([column, header]) => {
    const cells = filledCells(rows, column);
    const isFlagOfConsent = looksLikeConsent(header) && isFlag(cells, rows.length);
    return isFlagOfConsent || cells.some(statesOptOut) ? [column] : [];
  });
  if (unclear.length === 0) return;
  const numbers = unclear.map((column) => column + 1);
  const entries = numbers.map((number) => `{"column": ${number}, "values": ["…"]}`);
  const names = shownHeaders(unclear.map((column) => first.header[column]!));
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

function isFlag(cells: readonly string[], rows: number): boolean {
  if (cells.length === 0) return false;
  if (cells.length * 2 <= rows) return true;
  const different = new Set(cells);
  return different.size <= mostFlags && [...different].every((cell) => cell.length <= longestFlag);
}

/** Answers repeat: an export has few different ones. */
const mostRemembered = 1_000;
const longestRemembered = 100;

/** Reads the cells of an opt-out column. */
export function createOptOutReader({
  column,
  polarity,
  values,
}: OptOutColumn): (cells: readonly string[]) => OptOutAnswer {
  const remembered = new Map<string, OptOutAnswer>();
  return (cells) => {
    const cell = cells[column];
    if (cell === undefined || cell === '') return 'not opted out';
    const known = remembered.get(cell);
    if (known !== undefined) return known;
    const answer = optOutAnswer(cell, polarity, values);
    if (remembered.size < mostRemembered && cell.length <= longestRemembered) remembered.set(cell, answer);
    return answer;
  };
}

/** A warning names so many values at most. */
const shownValues = 5;

/** Counts the rows that each column excludes, the answers that are not understood, and the listed values. */
export class OptOutCounts {
  readonly #columns: readonly {
    readonly optOut: OptOutColumn;
    readonly read: (cells: readonly string[]) => OptOutAnswer;
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
      read: createOptOutReader(optOut),
      absent: new Set(optOut.values),
      optedOut: 0,
      unread: 0,
      firstUnread: '',
    }));
  }

  add(cells: readonly string[], row: number, line: number): void {
    this.#rows += 1;
    for (const column of this.#columns) {
      const answer = column.read(cells);
      if (answer === 'not opted out') continue;
      column.optedOut += 1;
      if (column.absent.size > 0) column.absent.delete(valueForm(cells[column.optOut.column]!));
      if (answer !== 'not understood' || column.optOut.isDescription === true) continue;
      if (column.unread === 0) column.firstUnread = `row ${row}, line ${line}`;
      column.unread += 1;
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
        '; to list the answers that mean "opted out": --mapping FILE with ' +
        `{"columns": {"${fieldOfScope[scope]}": {"column": ${column + 1}, "values": ["…"]}}}`;
      const needsCorrection = notRead > 0 || isMost;
      const listed = [...absent].slice(0, shownValues).map((value) => `"${value}"`);
      const more = absent.size > listed.length ? ` and ${absent.size - listed.length} more` : '';
      return [
        ...(optedOut > 0
          ? [exclusion + (notRead > 0 ? notUnderstood : '') + (needsCorrection ? correction : '')]
          : []),
        // A mistyped value pays for people who have opted out.
        ...(absent.size > 0
          ? [
              `no row has ${listed.join(', ')}${more} in column "${name}", which the mapping lists as opted out: ` +
                'check the spelling, because people with another value are paid for',
            ]
          : []),
      ];
    });
  }
}
