import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Problem } from '../../src/domain/problem.ts';
import { decodeText } from '../../src/ingest/reading/bytes/byte-text.ts';
import { readDataRecords } from '../../src/ingest/reading/data-records.ts';
import { openExport } from '../../src/ingest/reading/open-export.ts';
import { exportFiles } from '../helpers/exports/export-file.ts';
import { flawedExport, type FlawedExport } from '../helpers/invented/flawed-export.ts';

/** The same few cases in the suite; `npm run property:reading` draws others each time. READING_SEED repeats a run. */
const chosen = process.env['READING_CASES'];
const cases = Number(chosen ?? 250);
const given = process.env['READING_SEED'] ?? (chosen === undefined ? '7' : undefined);
const seed = given === undefined ? {} : { seed: Number(given) };
const file = exportFiles();

interface Read {
  readonly rows: string[][];
  readonly faults: string[];
  readonly warnings: string[];
}

/** What is read of a file, or why it is refused. */
async function read(content: string): Promise<Read | Problem> {
  const rows: string[][] = [];
  const faults: string[] = [];
  const warnings: string[] = [];
  try {
    const opened = await openExport(file(content, 'flawed.csv'), {});
    for await (const batch of readDataRecords(opened, (warning) => warnings.push(warning))) {
      for (const [index, record] of batch.records.entries()) {
        const fault = batch.faults.get(index);
        if (fault === undefined) rows.push(record.slice(0, opened.layout.header.length).map(decodeText));
        else faults.push(fault);
      }
    }
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  return { rows, faults, warnings };
}

/**
 * Rows that were read without being written, and rows that were lost: not read, and no malformed record stands for
 * them.
 */
function differences({ rows, damaged }: FlawedExport, found: Read): string[] {
  const left = found.rows.filter(
    (row, index) => !(index === rows.length - 1 && isCutRow(row, rows.at(-1)!, found)),
  );
  const isNamed = found.faults.length > 0 || left.length < found.rows.length;
  const take = (index: number): boolean => {
    const form = damaged.has(index) ? withoutSigns : letters;
    const at = left.findIndex((record) => form(record) === form(rows[index]!));
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  };
  // Rows may be alike: undamaged ones first.
  const order = [...rows.keys()].sort((one, other) => Number(damaged.has(one)) - Number(damaged.has(other)));
  const lost = order
    .filter((index) => !take(index) && (!damaged.has(index) || !isNamed))
    .map((index) => rows[index]!);
  return [...lost, ...left].map((row) => JSON.stringify(row));
}

/** The last row without the end of its last cell, of which the command says that it may be cut off. */
function isCutRow(row: readonly string[], whole: readonly string[], { warnings }: Read): boolean {
  const last = row.length - 1;
  const isPart = row.every((cell, index) =>
    index === last ? whole[index]!.startsWith(cell) : whole[index] === cell,
  );
  return (
    isPart && row[last] !== whole[last] && warnings.some((warning) => warning.includes('has no line end'))
  );
}

/** Line ends inside of cells are no difference. */
function letters(row: readonly string[]): string {
  return JSON.stringify(row.map((cell) => cell.replaceAll(/\r\n?/g, '\n')));
}

/** A surplus delimiter in a quoted cell, or a quote in a plain one, is a character of that cell. */
function withoutSigns(row: readonly string[]): string {
  return letters(row.map((cell) => cell.replaceAll(/["',;\t]/g, '')));
}

it(
  'an export with one flaw is read exactly, or its damaged rows are malformed, or it is refused',
  { timeout: 3_600_000 },
  async () => {
    const ended = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(flawedExport, async (flawed) => {
        const found = await read(flawed.text);
        const name = flawed.flaw.replace(/ in row .*/, '');
        const how =
          found instanceof Problem
            ? `refused, ${found.type}`
            : found.faults.length > 0
              ? 'malformed'
              : 'read';
        ended.set(`${name}: ${how}`, (ended.get(`${name}: ${how}`) ?? 0) + 1);
        if (found instanceof Problem) {
          // A file without a flaw is never refused.
          expect([name, found.type]).not.toEqual(['none', found.type]);
          return;
        }
        expect(differences(flawed, found)).toEqual([]);
      }),
      { numRuns: cases, ...seed },
    );
    if (cases > 400) console.table(Object.fromEntries([...ended].sort()));
  },
);
