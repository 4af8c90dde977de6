/**
 * Rows per second and peak memory of `enrich export` in each format, beside a bare COPY of the same rows.
 *
 * `npm run bench:export [-- --contacts 1000000]`. Uses DATABASE_URL (an empty database), or an embedded PostgreSQL of
 * its own. Each format runs in a process of its own, so that its peak memory is separate.
 */
import { createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { to as copyTo } from 'pg-copy-streams';
import { openWarehouse, type Warehouse } from '../../src/db/database.ts';
import { exportFormatNames, type ExportFormatName } from '../../src/export/export-format.ts';
import { exportTable } from '../../src/export/export-table.ts';
import { contactColumns } from '../../src/export/export-table.ts';
import { openBenchDatabase } from './bench-database.ts';
import { benchOptions } from './command-line.ts';
import { hasJob, inOwnProcess, peakMegabytes } from './own-process.ts';

interface Job {
  readonly measure: ExportFormatName | 'copy';
  readonly databaseUrl: string;
  readonly file: string;
}

interface Measured {
  readonly rows: number;
  readonly seconds: number;
  readonly peakMegabytes: number;
}

/** Invented people, twenty to a company; every fifth has a phone, every tenth no title. */
const inventedContacts = `
  with people as (
    insert into people (service, person_key, person_id, first_name, last_name, email, email_status, phone, title,
      headline, seniority, departments, city, state, country, organization_id, organization_name, organization_domain,
      organization_industry, organization_employees, linkedin_url, emails, phones, employment, said_by, valid_from,
      enriched_at, run_id, attempt_id)
    select 'bench', 'person:p' || n, 'p' || n, 'Ada', 'Novak' || n, 'person' || n || '@company' || n / 20 || '.example',
      'verified', case when n % 5 = 0 then '+4930' || 1000000 + n end,
      case when n % 10 > 0 then 'Engineer, Level ' || n % 100 end, 'Engineer at Company ' || n / 20, 'senior',
      array['engineering', 'operations'], 'Berlin', 'Berlin', 'Germany', 'c' || n / 20, 'Company ' || n / 20,
      'company' || n / 20 || '.example', 'machinery', n / 20 % 5000, 'https://profiles.example/in/person-' || n,
      '[]', '[]', '[]', '{}', '{}', now() - n * interval '1 second', 'run-1', 'a' || n / 10
    from generate_series(1, $1::int) n
  )
  insert into contact_matches (source, contact_id, service, person_key, evidence, asked, run_id, row_number)
  select 'crm', n, 'bench', 'person:p' || n, 'email', true, 'run-1', n
  from generate_series(1, $1::int) n`;

/** The columns of `contacts` as PostgreSQL writes them, without any rule of the product. */
async function copyBare({ pool }: Warehouse, take: (bytes: Readable) => Promise<void>): Promise<number> {
  const client = await pool.connect();
  const copied = client.query(
    copyTo(`copy (select ${contactColumns.join(', ')} from enriched_contacts) to stdout`),
  );
  await take(copied);
  client.release();
  return copied.rowCount;
}

async function measure({ measure: what, databaseUrl, file }: Job): Promise<Measured> {
  const warehouse = openWarehouse(databaseUrl);
  const take = (bytes: Readable): Promise<void> => pipeline(bytes, createWriteStream(file));
  const begun = performance.now();
  const rows =
    what === 'copy'
      ? await copyBare(warehouse, take)
      : await exportTable(warehouse, { table: 'contacts', format: what, choice: {} }, take);
  const seconds = (performance.now() - begun) / 1_000;
  await warehouse.close();
  return { rows: rows!, seconds, peakMegabytes: peakMegabytes() };
}

const measureAlone = inOwnProcess(import.meta.url, measure);

async function main(): Promise<void> {
  const { databaseUrl, folder, close } = await openBenchDatabase(process.env['DATABASE_URL']);
  try {
    const warehouse = openWarehouse(databaseUrl);
    await warehouse.pool.query(inventedContacts, [Number(benchOptions('contacts').contacts ?? 1_000_000)]);
    await warehouse.pool.query('vacuum analyze');
    await warehouse.close();
    for (const what of ['copy', ...exportFormatNames] as const) {
      const file = join(process.env['KEEP_FILES'] ?? folder, `contacts.${what}`);
      const measured = await measureAlone({ measure: what, databaseUrl, file });
      const { rows, seconds } = measured;
      console.log(
        `${what.padEnd(8)} ${String(rows).padStart(9)} rows ${seconds.toFixed(1).padStart(6)} s ` +
          `${Math.round(rows / seconds)
            .toString()
            .padStart(8)} rows/s ${measured.peakMegabytes.toFixed(0).padStart(5)} MB peak ` +
          `${(statSync(file).size / 1_000_000).toFixed(0).padStart(5)} MB file`,
      );
    }
  } finally {
    await close();
  }
}

if (!hasJob) await main();
