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
  /** A record id in the CRM's format; empty: any text can be one. */
  readonly id: string;
  readonly columns: readonly string[];
  /** The CRM is recognised only with its column of record ids, because its other columns have common names. */
  readonly needsId?: boolean;
}

const writtenExports: readonly WrittenExport[] = content;

/** The same few cases in the suite; `npm run property:recognition` draws others each time. */
const chosen = process.env['RECOGNITION_CASES'];
const numRuns = Number(chosen ?? 12);
const seed = chosen === undefined ? { seed: 7 } : {};

/** Some columns of an export, in any order. */
const someColumns = (columns: readonly string[]): fc.Arbitrary<string[]> =>
  fc.shuffledSubarray([...columns], { minLength: 1 });

/** The source under which a file is read; undefined if it is refused. */
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

  it.runIf(id !== '')(`an export of ${title} with ids of another program is generic`, () => {
    fc.assert(
      fc.property(someColumns(columns), (header) => {
        fc.pre(header.includes(idColumn!));
        expect([undefined, 'generic']).toContain(sourceOf(header, [rowWith(header, idColumn, 'crm/17')]));
      }),
      { numRuns, ...seed },
    );
  });
});
