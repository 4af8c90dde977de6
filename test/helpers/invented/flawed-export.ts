import fc from 'fast-check';

/** A well-formed export, and the same export with one flaw. */
export interface FlawedExport {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly text: string;
  readonly flaw: string;
  /** Positions of the rows that the flaw touches. */
  readonly damaged: ReadonlySet<number>;
}

interface Style {
  readonly delimiter: string;
  readonly lineEnd: string;
  readonly quotesAll: boolean;
  readonly endsInLineEnd: boolean;
}

/** The line of a record, and its line end. */
interface Line {
  readonly cells: readonly string[];
  readonly end: string;
}

const word = fc.constantFrom(
  'Orbit',
  'Acme',
  'Nordlys',
  'Helio Works',
  'Søren & Co',
  'Größe',
  '=1+1',
  '00042',
);
const anyText = fc.oneof(
  { weight: 4, arbitrary: word },
  { weight: 1, arbitrary: fc.constantFrom('', 'Acme, Inc', 'Acme; Inc', '5" pipe', '"quoted"', ', Inc') },
  { weight: 1, arbitrary: fc.constantFrom('line one\nline two', 'a, b, c\nd, e, f', 'one\r\ntwo') },
);
const person = fc.constantFrom('Ann', 'Bob', 'Cy', 'Dí', 'Eva Maria', "O'Neil", 'Nguyễn');

/** The cell of row `n` in the column of this name. */
const columns: Readonly<Record<string, (n: number) => fc.Arbitrary<string>>> = {
  id: (n) => fc.constant(`${1000 + n}`),
  first_name: () => person,
  last_name: () => fc.oneof(person, fc.constant('')),
  company: () => anyText,
  email: (n) => fc.oneof({ weight: 5, arbitrary: fc.constant(`p${n}@acme.example`) }, fc.constant('')),
  linkedin_url: (n) => fc.oneof(fc.constant(`https://www.linkedin.com/in/p${n}`), fc.constant('')),
  'Marketing status': () => fc.constantFrom('Subscribed', 'Unsubscribed', ''),
  notes: () => anyText,
  city: () => fc.constantFrom('Oslo', 'Graz', ''),
};

const style: fc.Arbitrary<Style> = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t'),
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  quotesAll: fc.boolean(),
  endsInLineEnd: fc.boolean(),
});

const header = fc
  .shuffledSubarray(Object.keys(columns), { minLength: 3 })
  .filter((names) => names.includes('email') || names.includes('linkedin_url'));

function rowsOf(names: readonly string[]): fc.Arbitrary<string[][]> {
  return fc
    .integer({ min: 1, max: 12 })
    .chain((count) =>
      fc.tuple(
        ...Array.from({ length: count }, (_, n) => fc.tuple(...names.map((name) => columns[name]!(n)))),
      ),
    );
}

/** An export with one random flaw. */
export const flawedExport: fc.Arbitrary<FlawedExport> = fc
  .tuple(style, header)
  .chain(([form, names]) =>
    fc.record({
      form: fc.constant(form),
      names: fc.constant(names),
      rows: rowsOf(names),
      flaw: fc.constantFrom(...(Object.keys(flaws) as FlawName[])),
      row: fc.nat(),
      at: fc.nat(),
    }),
  )
  .map(({ form, names, rows, flaw, row, at }) => {
    const lines = [names, ...rows].map((cells): Line => ({
      cells: cells.map((cell) => written(cell, form)),
      end: form.lineEnd,
    }));
    const target = row % rows.length;
    const flawed: Flawed = flaws[flaw](lines, target + 1, at, form);
    return {
      header: names,
      rows: rows.slice(0, flawed.rowsLeft),
      text: flawed.text,
      flaw: `${flaw} in row ${target + 1}`,
      damaged: new Set(flawed.damaged.map((line) => line - 1)),
    };
  });

interface Flawed {
  readonly text: string;
  /** Changed lines; the header is line 0. */
  readonly damaged: readonly number[];
  /** Number of rows in the text; the last may be incomplete. */
  readonly rowsLeft?: number;
}

type Flaw = (lines: readonly Line[], line: number, at: number, form: Style) => Flawed;
type FlawName = keyof typeof flaws;

const flaws = {
  none: (lines, _line, _at, form) => ({ text: joined(lines, form), damaged: [] }),
  'a surplus delimiter': (lines, line, at, form) =>
    changed(lines, line, form, (text, gaps) => insert(text, gaps[at % gaps.length]!, form.delimiter)),
  'a surplus delimiter in a cell': (lines, line, at, form) =>
    changed(lines, line, form, (text) => insert(text, at % (text.length + 1), form.delimiter)),
  'a missing delimiter': (lines, line, at, form) =>
    changed(lines, line, form, (text, gaps) => {
      const inner = gaps.slice(1, -1);
      const gap = inner[at % inner.length]!;
      return text.slice(0, gap - 1) + text.slice(gap);
    }),
  'a stray quote': (lines, line, at, form) =>
    changed(lines, line, form, (text) => insert(text, at % (text.length + 1), '"')),
  'a stray quote before a cell': (lines, line, at, form) =>
    changed(lines, line, form, (text, gaps) => insert(text, gaps[at % (gaps.length - 1)]!, '"')),
  'a missing quote': (lines, line, at, form) =>
    changed(lines, line, form, (text) => {
      const quotes = [...text.matchAll(/"/g)].map(({ index }) => index);
      const quote = quotes[at % quotes.length];
      return quote === undefined ? text : text.slice(0, quote) + text.slice(quote + 1);
    }),
  'another line end': (lines, line, at, form) => {
    const end = ['\n', '\r\n', '\r', '\r\r\n', '\n\n'][at % 5]!;
    return {
      text: joined(
        lines.map((each, index) => (index === line ? { ...each, end } : each)),
        form,
      ),
      damaged: [],
    };
  },
  'a missing line end': (lines, line, _at, form) => ({
    text: joined(
      lines.map((each, index) => (index === line ? { ...each, end: '' } : each)),
      form,
    ),
    damaged: line + 1 < lines.length ? [line, line + 1] : [],
  }),
  'a footer': (lines, _line, at, form) => {
    const footer = [
      'Generated by: Max Muster',
      '"Grand Totals (7 records)"',
      'Confidential Information - Do Not Distribute',
      'The end',
    ];
    const blank = at % 2 === 0 ? form.lineEnd : '';
    return {
      text: joined(lines, { ...form, endsInLineEnd: true }) + blank + footer[at % 4]! + form.lineEnd,
      damaged: [],
    };
  },
  'a second header': (lines, line, _at, form) => ({
    text: joined([...lines.slice(0, line), lines[0]!, ...lines.slice(line)], form),
    damaged: [],
  }),
  'a second header of other columns': (lines, line, _at, form) => ({
    text: joined(
      [...lines.slice(0, line), { ...lines[0]!, cells: lines[0]!.cells.toReversed() }, ...lines.slice(line)],
      form,
    ),
    damaged: [],
  }),
  'a cut': (lines, line, at, form) => {
    const before = lines
      .slice(0, line)
      .map((each) => textOf(form, each))
      .join('');
    const cut = lines[line]!.cells.join(form.delimiter);
    const left = 1 + (at % cut.length);
    const rest = cut.slice(0, left);
    // An empty cell in quotes is an empty line.
    if (rest === '""') return { text: before + rest, damaged: [], rowsLeft: line - 1 };
    return { text: before + rest, damaged: [line], rowsLeft: line };
  },
} satisfies Record<string, Flaw>;

function written(cell: string, { delimiter, quotesAll }: Style): string {
  const needsQuotes = quotesAll || cell.includes(delimiter) || /["\r\n]/.test(cell);
  return needsQuotes ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function textOf({ delimiter }: Style, { cells, end }: Line): string {
  return cells.join(delimiter) + end;
}

function joined(lines: readonly Line[], form: Style): string {
  const whole = lines.map((line) => textOf(form, line)).join('');
  const { end } = lines.at(-1)!;
  return form.endsInLineEnd || end === '' ? whole : whole.slice(0, -end.length);
}

/** @param change changes the text of a line; `gaps` are the starts of its cells, and its end */
function changed(
  lines: readonly Line[],
  line: number,
  form: Style,
  change: (text: string, gaps: readonly number[]) => string,
): Flawed {
  const { cells } = lines[line]!;
  let position = 0;
  const gaps = cells.map((cell) => (position += cell.length + 1) - cell.length - 1);
  const before = cells.join(form.delimiter);
  const after = change(before, [...gaps, before.length]);
  const replaced = lines.map((each, index) => (index === line ? { cells: [after], end: each.end } : each));
  return { text: joined(replaced, form), damaged: after === before ? [] : [line] };
}

function insert(text: string, at: number, piece: string): string {
  return text.slice(0, at) + piece + text.slice(at);
}
