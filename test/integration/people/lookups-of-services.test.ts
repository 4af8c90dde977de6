import { expect, it } from 'vitest';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { insertLookup, asked, outcomesOf, stagedRun } from '../../helpers/warehouse/rows.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';

const warehouse = await warehouseOfFile();

it('a person stays fresh at a service after a later lookup at another service', async () => {
  const row = { keys: ['email:ada@orbit.example'], email: 'ada@orbit.example', contactId: 'a' };
  await insertLookup(warehouse.pool, { key: row.keys[0]!, secondsAgo: 60 });
  const service = 'https://other.example/api/v1';
  await insertLookup(warehouse.pool, { key: row.keys[0]!, service });
  for (const asking of ['test', service]) {
    const { runId } = await stagedRun(warehouse, [row]);
    await planRows(warehouse, runId, { ...asked, service: asking });
    expect(await outcomesOf(warehouse, runId)).toEqual(['fresh']);
  }
});
