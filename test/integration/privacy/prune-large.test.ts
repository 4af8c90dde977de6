import { expect, it } from 'vitest';
import { prune } from '../../../src/privacy/prune.ts';
import { openTestWarehouse } from '../../helpers/database/database.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';
import { rowsScanned } from '../../helpers/database/contents.ts';

it('prune() reads no delivery whose body was removed when there are 20,000', async () => {
  const warehouse = await openTestWarehouse({ connections: 1 });
  const { runId } = await stagedRun(warehouse, []);
  await warehouse.query`
    insert into attempts (attempt_id, run_id, batch, status, people, credits_reserved, credits_settled, budget_ids)
    values ('a1', ${runId}, 1, 'settled', 10, 10, 10, '{}')`;
  await warehouse.query`
    insert into webhook_deliveries (delivery_id, attempt_id, run_id, body_sha256, status, received_at)
    select 'd' || n, 'a1', ${runId}, sha256(n::text::bytea), 'applied', now() - interval '90 days'
    from generate_series(1, 20000) n`;
  await warehouse.query`analyze`;
  const before = await rowsScanned(warehouse, 'webhook_deliveries');
  await prune(warehouse, { deliveries: 0, quarantine: 0 }, new AbortController().signal);
  expect((await rowsScanned(warehouse, 'webhook_deliveries')) - before).toBe(0);
  await warehouse.close();
});
