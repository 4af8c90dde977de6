import { beforeAll, expect, it } from 'vitest';
import { settle } from '../../../src/ledger/close-attempt.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const warehouse = await warehouseOfFile();

beforeAll(async () => {
  await warehouse.query`
    insert into budgets (budget_id, reserved)
    values ('day:2026-11-21', 30), ('run:settled', 30), ('run:other', 30)`;
});

async function budgets(): Promise<unknown> {
  const rows = await warehouse.query`
    select budget_id, trim_scale(reserved)::text as reserved, trim_scale(settled)::text as settled
    from budgets order by budget_id`;
  return rows.map(Object.values);
}

it('a settlement changes its budgets when its transaction commits, and locks none of them before', async () => {
  await warehouse.database.transaction().execute(async (transaction) => {
    await settle(transaction, ['day:2026-11-21', 'run:settled'], '10', 7_000_000n);
    await settle(transaction, ['day:2026-11-21', 'run:settled'], '5', 0n);
    await warehouse.query`select from budgets for update nowait`;
    expect(await budgets()).toEqual([
      ['day:2026-11-21', '30', '0'],
      ['run:other', '30', '0'],
      ['run:settled', '30', '0'],
    ]);
  });
  expect(await budgets()).toEqual([
    ['day:2026-11-21', '15', '7'],
    ['run:other', '30', '0'],
    ['run:settled', '15', '7'],
  ]);
  expect((await warehouse.pool.query('select from settlements')).rowCount).toBe(0);
});

it('a settlement of a transaction that is rolled back changes no budget', async () => {
  const before = await budgets();
  await expect(
    warehouse.database.transaction().execute(async (transaction) => {
      await settle(transaction, ['run:settled'], '10', 7_000_000n);
      throw new Error('by a test');
    }),
  ).rejects.toThrow('by a test');
  expect(await budgets()).toEqual(before);
});
