import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Papa from 'papaparse';
import { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

const table = 'bench_bare_copy';

/** The baseline for reading an export: papaparse's stream and COPY into text columns. @returns the number of rows */
export async function copyBare(file: string, databaseUrl: string, columns: number): Promise<number> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const names = Array.from({ length: columns }, (_, index) => `c${index + 1} text`);
  await client.query(`create table ${table} (${names.join(', ')})`);
  let rows = -1;
  let lines = '';
  const toCopy = new Transform({
    writableObjectMode: true,
    transform(record: string[], _, done) {
      rows += 1;
      if (rows > 0) lines += `${record.map(escapeCell).join('\t')}\n`;
      if (lines.length < 65_536) return done();
      done(null, lines);
      lines = '';
    },
    flush(done) {
      done(null, lines);
    },
  });
  await pipeline(
    createReadStream(file),
    Papa.parse(Papa.NODE_STREAM_INPUT, { delimiter: ',', newline: '\n', skipEmptyLines: true }),
    toCopy,
    client.query(copyFrom(`copy ${table} from stdin`)),
  );
  await client.query(`drop table ${table}`);
  await client.end();
  return rows;
}

function escapeCell(cell: string): string {
  return /[\\\n\r\t]/.test(cell)
    ? cell.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
    : cell;
}
