import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../src/domain/problem.ts';
import { mapColumns } from '../../src/ingest/columns/column-map.ts';
import { crmExports } from '../../src/domain/crm/crm.ts';
import { recogniseExport } from '../../src/ingest/columns/recognise-export.ts';
import content from '../data/written-exports.json' with { type: 'json' };

/** The headers and record ids that a CRM writes into an export. */
interface WrittenExport {
  readonly title: string;
  readonly source: string;
  readonly idColumn?: string;
  /** A record id in the format of the CRM; empty if any text can be a record id. */
  readonly id: string;
  readonly columns: readonly string[];
  /** True if the CRM is recognised only by its column of record ids, because its other columns have common names. */
  readonly needsId?: boolean;
}

const writtenExports: readonly WrittenExport[] = content;

/** The suite draws the same few cases each time; `npm run property:recognition` draws new ones. */
const chosen = process.env['RECOGNITION_CASES'];
const numRuns = Number(chosen ?? 12);
const seed = chosen === undefined ? { seed: 7 } : {};

/** Draws some columns of an export, in any order. */
const someColumns = (columns: readonly string[]): fc.Arbitrary<string[]> =>
  fc.shuffledSubarray([...columns], { minLength: 1 });

/** Returns the source of a file, or undefined if the file is refused. */
function sourceOf(header: string[], rows: string[][]): string | undefined {
  try {
    return mapColumns('contacts.csv', { header, recognised: true, rows }, {}).source;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

const rowWith = (header: readonly string[], idColumn: string | undefined, id: string): string[] =>
  header.map((name) => (name === idColumn ? id : 'x'));

it('test/data/written-exports.json has an export of every known CRM', () => {
  const written = new Set(writtenExports.map(({ source }) => source));
  expect(crmExports.filter(({ source }) => !written.has(source))).toEqual([]);
});

describe.each(writtenExports)('some columns of an export of $title', (written: WrittenExport) => {
  const { title, source, idColumn, id, columns, needsId } = written;

  it(`some columns of an export of ${title} are never recognised as another CRM`, () => {
    fc.assert(
      fc.property(someColumns(columns), fc.boolean(), (header, hasRows) => {
        const rows = hasRows ? [rowWith(header, idColumn, id)] : [];
        expect([source, 'generic', undefined]).toContain(sourceOf(header, rows));
      }),
      { numRuns, ...seed },
    );
  });

  it.runIf(idColumn !== undefined)(`most columns of an export of ${title} are recognised as this CRM`, () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...columns], { minLength: columns.length - 2 }), (header) => {
        fc.pre(needsId !== true || header.includes(idColumn!));
        const known = recogniseExport({ header, rows: [rowWith(header, idColumn, id)] });
        expect(known?.source, 'needs more ownHeaders or signatures; otherwise the export has needsId').toBe(
          source,
        );
      }),
      { numRuns, ...seed },
    );
  });

  it.runIf(id !== '')(
    `an export with the columns of ${title} but with record ids in another format is generic`,
    () => {
      fc.assert(
        fc.property(someColumns(columns), (header) => {
          fc.pre(header.includes(idColumn!));
          expect([undefined, 'generic']).toContain(sourceOf(header, [rowWith(header, idColumn, 'crm/17')]));
        }),
        { numRuns, ...seed },
      );
    },
  );
});
