import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openWarehouse } from '../../../src/db/database.ts';
import { createTestDatabase } from '../../helpers/database/database.ts';

it('a warehouse reads times and waits for locks, whatever the defaults of its database are', async () => {
  const databaseUrl = await createTestDatabase();
  const name = new URL(databaseUrl).pathname.slice(1);
  const owner = openWarehouse(databaseUrl, { connections: 1 });
  await owner.pool.query(`alter database "${name}" set datestyle to 'German'`);
  await owner.pool.query(`alter database "${name}" set default_transaction_isolation to 'serializable'`);
  await owner.close();
  const warehouse = openWarehouse(databaseUrl, { connections: 1 });
  try {
    const { rows } = await sql<{ at: Date; isolation: string }>`
      select timestamptz '2026-11-24 20:00:00Z' as at, current_setting('transaction_isolation') as isolation
    `.execute(warehouse.database);
    expect(rows).toEqual([{ at: new Date('2026-11-24T20:00:00Z'), isolation: 'read committed' }]);
  } finally {
    await warehouse.close();
  }
});
