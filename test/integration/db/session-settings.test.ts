import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openWarehouse } from '../../../src/db/database.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';
import { executeAt } from '../../helpers/database/global-setup.ts';

it('defaults of the database or the connection URL do not change how values are read and written', async () => {
  const databaseUrl = await createTestDatabase();
  const name = new URL(databaseUrl).pathname.slice(1);
  const defaults = {
    search_path: 'public',
    datestyle: 'German',
    default_transaction_isolation: 'serializable',
    array_nulls: 'off',
    standard_conforming_strings: 'off',
    extra_float_digits: '-5',
    intervalstyle: 'iso_8601',
    bytea_output: 'escape',
  };
  for (const [setting, value] of Object.entries(defaults))
    await executeAt(databaseUrl, `alter database "${name}" set ${setting} to '${value}'`);
  const url = new URL(databaseUrl);
  url.searchParams.set('options', '-c timezone=Asia/Kolkata');
  const warehouse = openWarehouse(url.href, { connections: 1 });
  try {
    const { rows } = await sql`
      select timestamptz '2026-11-24 20:00:00Z' as at, current_setting('transaction_isolation') as isolation,
        ${[null, 'a']}::text[] as list, ${sql.raw(String.raw`'\d'`)} as text, 0.1234567890123456::float8 as number,
        interval '1 day'::text as duration, '\\x00ff'::bytea::text as bytes, to_regclass('runs') is not null as found
    `.execute(warehouse.database);
    expect(rows).toEqual([
      {
        at: new Date('2026-11-24T20:00:00Z'),
        isolation: 'read committed',
        list: [null, 'a'],
        text: String.raw`\d`,
        number: 0.1234567890123456,
        duration: '1 day',
        bytes: String.raw`\x00ff`,
        found: true,
      },
    ]);
  } finally {
    await warehouse.close();
  }
});
