import { expect, it } from 'vitest';
import { creditsFromWhole } from '../../../src/domain/money/decimal.ts';
import { readCallHistory } from '../../../src/ledger/call-history.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

let calls = 0;

/** A call for ten people, of a run for this service. */
async function settledCall(service: string, credits: number, source = 'generic'): Promise<void> {
  calls += 1;
  const { runId } = await stagedRun(warehouse, []);
  await warehouse.query`
    update runs set options = options || ${{ service }}::jsonb, source = ${source} where run_id = ${runId}`;
  await warehouse.query`
    insert into attempts (attempt_id, run_id, batch, status, people, credits_reserved, credits_settled, budget_ids,
      answered_at)
    values (${`call-${calls}`}, ${runId}, 1, 'settled', 10, 90, ${credits}, '{}', clock_timestamp())`;
}

const askedOf = (service: string) => ({ service, reveal: [], waterfall: [] });

it('readCallHistory() ignores calls to another service, such as the sandbox', async () => {
  await settledCall('sandbox', 10);
  expect(
    await readCallHistory(warehouse, askedOf('https://service.example/api/v1'), 'generic'),
  ).toBeUndefined();
});

it('readCallHistory() estimates the cost of a person from calls for the same source', async () => {
  const own = 'https://own.example/api/v1';
  for (const credits of [10, 20, 30]) await settledCall(own, credits, 'hubspot');
  await settledCall(own, 60, 'zoho');
  expect(await readCallHistory(warehouse, askedOf(own), 'hubspot')).toMatchObject({
    calls: 3,
    perPerson: creditsFromWhole(2),
    deviation: 1,
  });
  expect(await readCallHistory(warehouse, askedOf(own), 'pipedrive')).toBeUndefined();
});

it('readCallHistory() for phones ignores calls that requested no late results', async () => {
  const asked = { service: 'https://late.example/api/v1', reveal: ['phone'], waterfall: ['email'] };
  const { runId } = await stagedRun(warehouse, []);
  await warehouse.query`
    update runs
    set options = options || ${JSON.stringify(asked)}::jsonb
    where run_id = ${runId}`;
  await warehouse.query`
    insert into attempts (attempt_id, run_id, batch, status, people, credits_reserved, credits_settled, budget_ids,
      token_hash, answered_at)
    values ('all', ${runId}, 1, 'settled', 10, 90, 60, '{}', 'a', now()),
      ('part', ${runId}, 2, 'settled', 10, 20, 10, '{}', null, now())`;
  expect(await readCallHistory(warehouse, asked, 'generic')).toMatchObject({
    calls: 1,
    perPerson: creditsFromWhole(6),
  });
});
