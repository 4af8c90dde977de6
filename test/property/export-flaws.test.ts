import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Problem } from '../../src/domain/problem.ts';
import { readDataRecords } from '../../src/ingest/reading/data-records.ts';
import { openExport } from '../../src/ingest/reading/open-export.ts';
import { exportFiles } from '../helpers/exports/export-file.ts';
import { flawedExport } from '../helpers/invented/flawed-export.ts';

/** The same few cases in the suite; `npm run property:reading` draws others each time. READING_SEED repeats a run. */
const chosen = process.env['READING_CASES'];
const given = process.env['READING_SEED'] ?? (chosen === undefined ? '7' : undefined);
const options = { numRuns: Number(chosen ?? 250), ...(given !== undefined && { seed: Number(given) }) };
const file = exportFiles();

interface Read {
  readonly rows: string[];
  readonly faults: string[];
  readonly warnings: string[];
}

/** What is read of a file, or why it is refused. */
async function read(content: string): Promise<Read | Problem> {
  const found: Read = { rows: [], faults: [], warnings: [] };
  try {
    const opened = await openExport(file(content, 'flawed.csv'), {});
    for await (const records of readDataRecords(opened, (warning) => found.warnings.push(warning))) {
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
  'an export with one flaw is read exactly, or its damaged rows are malformed, or it is refused',
  { timeout: 3_600_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(flawedExport, async ({ rows, text, flaw, row }) => {
        const found = await read(text);
        const written = rows.map((cells) => JSON.stringify(cells));
        const others = written.filter((_, index) => index < row || (index > row && flaw !== 'cut'));
        const hasOddQuotes = text.split('"').length % 2 === 0;
        if (found instanceof Problem) {
          // A refusal is right for every flaw, and wrong for a file without one.
          expect(flaw).not.toBe('none');
          expect(found.exitCode).toBe(2);
          return;
        }
        expect(hasOddQuotes).toBe(false);
        if (flaw === 'none' || (flaw === 'a missing quote' && found.rows.length === rows.length))
          expect(found).toMatchObject({ rows: written, faults: [] });
        else if (flaw === 'cut' && found.warnings.length > 0)
          expect(found.rows.slice(0, row)).toEqual(others);
        else if (flaw === 'a missing line end') {
          expect(found.faults).toHaveLength(row === rows.length - 1 ? 0 : 1);
          const isJoined = (index: number): boolean => index === row || index === row + 1;
          const whole = written.filter((_, index) => row === rows.length - 1 || !isJoined(index));
          expect(found.rows).toEqual(whole);
        } else {
          expect(found.rows).toEqual(others);
          expect(found.faults).toHaveLength(flaw === 'cut' ? found.faults.length : 1);
        }
      }),
      options,
    );
  },
);
