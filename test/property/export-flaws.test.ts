import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Problem } from '../../src/domain/problem.ts';
import { readDataRecords } from '../../src/ingest/reading/data-records.ts';
import { openExport } from '../../src/ingest/reading/open-export.ts';
import { exportFiles } from '../helpers/exports/export-file.ts';

/** A well-formed export, and the same export with one flaw. */
interface FlawedExport {
  readonly rows: readonly (readonly string[])[];
  readonly text: string;
  readonly flaw: FlawName;
  /** Position of the row that the flaw touches, from 0. */
  readonly row: number;
}

type FlawName = (typeof flaws)[number];

/** Flaws that change one character of one row. */
const flaws = [
  'none',
  'a surplus quote',
  'a missing quote',
  'a surplus delimiter',
  'a missing delimiter',
  'a missing line end',
] as const;

const anyText = fc.constantFrom(
  'Orbit',
  'Helio Works',
  'Größe',
  '=1+1',
  '00042',
  '',
  'Acme, Inc',
  '5" pipe',
  'one\ntwo',
);
const columns: Readonly<Record<string, (n: number) => fc.Arbitrary<string>>> = {
  id: (n) => fc.constant(`${1000 + n}`),
  name: () => fc.constantFrom('Ann', 'Cy', 'Eva Maria', "O'Neil", 'Nguyễn', ''),
  email: (n) => fc.constant(`p${n}@acme.example`),
  company: () => anyText,
  'Marketing status': () => fc.constantFrom('Subscribed', 'Unsubscribed', ''),
  notes: () => anyText,
};

const header = fc
  .shuffledSubarray(Object.keys(columns), { minLength: 3 })
  .filter((names) => names.includes('email'));

/** An export of at most twelve rows with one flaw. */
const flawedExport: fc.Arbitrary<FlawedExport> = header.chain((names) => {
  const rowsOf = (count: number): fc.Arbitrary<string[][]> =>
    fc.tuple(...Array.from({ length: count }, (_, n) => fc.tuple(...names.map((name) => columns[name]!(n)))));
  return fc
    .record({
      rows: fc.integer({ min: 1, max: 12 }).chain(rowsOf),
      delimiter: fc.constantFrom(',', ';', '\t'),
      end: fc.constantFrom('\n', '\r\n'),
      quotesAll: fc.boolean(),
      flaw: fc.constantFrom(...flaws),
      row: fc.nat(),
      at: fc.nat(),
    })
    .map(({ rows, delimiter, end, quotesAll, flaw, row: anyRow, at }) => {
      const row = anyRow % rows.length;
      const written = (cell: string): string =>
        quotesAll || /[",;\t\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
      const cells = [names, ...rows].map((record) => record.map(written));
      const lines = cells.map((record) => record.join(delimiter) + end);
      lines[row + 1] = flawed(cells[row + 1]!, flaw, { delimiter, end, at });
      return { rows, text: lines.join(''), flaw, row };
    });
});

function flawed(
  cells: readonly string[],
  flaw: FlawName,
  { delimiter, end, at }: { delimiter: string; end: string; at: number },
): string {
  const column = at % cells.length;
  const line = cells.join(delimiter);
  const without = (sign: string): string => {
    const positions = Array.from(line.matchAll(new RegExp(sign, 'g')), ({ index }) => index);
    const removed = positions[at % (positions.length || 1)];
    return removed === undefined ? line : line.slice(0, removed) + line.slice(removed + 1);
  };
  switch (flaw) {
    case 'none':
      return line + end;
    case 'a surplus quote': {
      const place = at % (line.length + 1);
      return `${line.slice(0, place)}"${line.slice(place)}${end}`;
    }
    case 'a missing quote':
      return without('"') + end;
    case 'a surplus delimiter':
      return [...cells.slice(0, column), '', ...cells.slice(column)].join(delimiter) + end;
    case 'a missing delimiter': {
      const first = Math.min(column, cells.length - 2);
      const joined = [...cells.slice(0, first), cells[first]! + cells[first + 1]!, ...cells.slice(first + 2)];
      return joined.join(delimiter) + end;
    }
    case 'a missing line end':
      return line;
  }
}

/**
 * The suite reads the same few cases each time; `npm run property:reading` draws new ones. READING_SEED repeats them.
 */
const chosen = process.env['READING_CASES'];
const given = process.env['READING_SEED'] ?? (chosen === undefined ? '7' : undefined);
const options = { numRuns: Number(chosen ?? 100), ...(given !== undefined && { seed: Number(given) }) };
const file = exportFiles();

interface Read {
  readonly rows: string[];
  readonly faults: string[];
}

/** Reads a file: returns its rows, or the problem with which the file is refused. */
async function read(content: string): Promise<Read | Problem> {
  const found: Read = { rows: [], faults: [] };
  try {
    const opened = await openExport(file(content, 'flawed.csv'), {});
    for await (const records of readDataRecords(opened, () => {})) {
      for (const { cells, fault } of records) {
        if (fault === undefined) found.rows.push(JSON.stringify(cells));
        else found.faults.push(fault);
      }
    }
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  return found;
}

it(
  'an export with one flaw is read exactly, or its damaged rows are malformed, or the file is refused',
  { timeout: 3_600_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(flawedExport, async ({ rows, text, flaw, row }) => {
        const found = await read(text);
        const written = rows.map((cells) => JSON.stringify(cells));
        const isLast = row === rows.length - 1;
        const hasOddQuotes = text.split('"').length % 2 === 0;
        if (found instanceof Problem) {
          // A file with a flaw may be refused, but a file without a flaw may not.
          expect(flaw).not.toBe('none');
          expect(found.exitCode).toBe(2);
          return;
        }
        expect(hasOddQuotes).toBe(false);
        if (flaw === 'none' || (flaw === 'a missing quote' && found.rows.length === rows.length))
          expect(found).toMatchObject({ rows: written, faults: [] });
        else if (flaw === 'a missing line end') {
          expect(found.faults).toHaveLength(isLast ? 0 : 1);
          const isJoined = (index: number): boolean => !isLast && (index === row || index === row + 1);
          expect(found.rows).toEqual(written.filter((_, index) => !isJoined(index)));
        } else {
          expect(found.rows).toEqual(written.filter((_, index) => index !== row));
          expect(found.faults).toHaveLength(1);
        }
      }),
      options,
    );
  },
);
