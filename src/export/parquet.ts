import { Readable } from 'node:stream';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];
type Values = Parameters<ParquetWriter['write']>[0]['columnData'][number]['data'];

/** Rows that are kept in memory and written as one group. A larger group compresses better and needs more memory. */
const rowGroupSize = 2_500;

const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } } as const;

/** A column type in Parquet. `read` converts a text of COPY to the value that the library writes. */
interface ParquetType {
  readonly element: Omit<SchemaElement, 'name' | 'repetition_type'>;
  readonly children?: readonly SchemaElement[];
  readonly read: (value: string) => unknown;
}

const parquetTypes = {
  text: { element: text, read: (value) => value },
  boolean: { element: { type: 'BOOLEAN' }, read: (value) => value === 't' },
  integer: { element: { type: 'INT32' }, read: Number },
  bigint: { element: { type: 'INT64' }, read: BigInt },
  numeric: { element: { type: 'DOUBLE' }, read: Number },
  date: {
    element: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
    read: Number,
  },
  timestamptz: {
    element: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    },
    read: BigInt,
  },
  jsonb: {
    element: { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } },
    read: (value) => JSON.parse(value) as unknown,
  },
  'text[]': {
    element: { converted_type: 'LIST', logical_type: { type: 'LIST' }, num_children: 1 },
    children: [
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      { name: 'element', repetition_type: 'OPTIONAL', ...text },
    ],
    read: (value) => JSON.parse(value) as unknown,
  },
} as const satisfies Readonly<Record<string, ParquetType>>;

export type ExportedType = keyof typeof parquetTypes;

export interface ParquetColumn {
  readonly name: string;
  readonly type: ExportedType;
}

/** Encodes rows that COPY has written as Parquet, one row group at a time. Every column may be null. */
export function encodeParquet(copied: Readable, columns: readonly ParquetColumn[]): Readable {
  return Readable.from(chunksOf(copied, columns), { objectMode: false });
}

/** Collects rows, and yields the bytes of each complete row group. */
async function* chunksOf(copied: Readable, columns: readonly ParquetColumn[]): AsyncGenerator<Uint8Array> {
  const bytes = new DrainedBytes();
  const writer = new ParquetWriter({ writer: bytes, schema: schemaOf(columns), createdBy: 'enrich' });
  const readers = columns.map(({ type }) => parquetTypes[type].read);
  const group: unknown[][] = columns.map(() => []);
  const write = (): void => {
    const columnData = columns.map(({ name, type }, index) => ({
      name,
      data: group[index] as Values,
      // Statistics of text columns would take a fifth of the encoding time.
      statistics: type !== 'text',
    }));
    void writer.write({ columnData, rowGroupSize });
    // Emptied, not replaced: garbage collection would move values of replaced arrays into old memory.
    for (const column of group) column.length = 0;
  };
  for await (const rows of copiedRows(copied)) {
    for (const row of rows) {
      const cells = row.split('\t');
      for (let index = 0; index < cells.length; index += 1) {
        const cell = cells[index]!;
        group[index]!.push(cell === nullCell ? null : readers[index]!(unescaped(cell)));
      }
      if (group[0]!.length < rowGroupSize) continue;
      write();
      yield bytes.drain();
    }
  }
  if (group[0]!.length > 0) write();
  void writer.finish();
  yield bytes.drain();
}

function schemaOf(columns: readonly ParquetColumn[]): SchemaElement[] {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.flatMap(({ name, type }): SchemaElement[] => {
      const { element, children = [] }: ParquetType = parquetTypes[type];
      return [{ name, repetition_type: 'OPTIONAL', ...element }, ...children];
    }),
  ];
}

/** Splits the output of COPY into rows as it arrives. COPY escapes line feeds within values. */
async function* copiedRows(copied: Readable): AsyncGenerator<readonly string[]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of copied as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(0x0a);
    if (end >= 0) yield bytes.toString('utf8', 0, end).split('\n');
    rest = bytes.subarray(end + 1);
  }
}

/** COPY's text for null. */
const nullCell = String.raw`\N`;
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function unescaped(cell: string): string {
  return cell.includes('\\')
    ? cell.replaceAll(/\\(.)/gs, (_, letter: string) => escapes[letter] ?? letter)
    : cell;
}

/** A buffer whose bytes are handed over after each row group, so that memory stays bounded. */
class DrainedBytes extends ByteWriter {
  drain(): Uint8Array {
    const bytes = new Uint8Array(this.getBuffer());
    this.index = 0;
    return bytes;
  }
}
