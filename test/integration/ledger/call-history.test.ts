import { expect, it } from 'vitest';
import { wholeCredits } from '../../../src/domain/money/decimal.ts';
import { readCallHistory } from '../../../src/ledger/call-history.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

let calls = 0;

/** A call for ten people, of a run for this service. */
async function settledCall(
  service: string,
  credits: number,
  source = 'generic',
  foundBefore = 0,
): Promise<void> {
  calls += 1;
  const { runId } = await stagedRun(warehouse, []);
  await warehouse.pool.query(
    `update runs set options = options || $2::jsonb, source = $3, plan = $4 where run_id = $1`,
    [runId, JSON.stringify({ service }), source, JSON.stringify({ people: 10, found_before: foundBefore })],
  );
  await warehouse.pool.query(
    `insert into attempts (attempt_id, run_id, batch, status, people, credits_reserved, credits_settled, budget_ids,
       answered_at)
     values ($1, $2, 1, 'settled', 10, 90, $3, '{}', clock_timestamp())`,
    [`call-${calls}`, runId, credits],
  );
}

const askedOf = (service: string) => ({ service, reveal: [], waterfall: [] });

it('a plan learns nothing from calls to another service, such as the sandbox', async () => {
  await settledCall('sandbox', 10);
  expect(
    await readCallHistory(warehouse, askedOf('https://service.example/api/v1'), 'generic', 'new'),
  ).toBeUndefined();
});

it('a plan learns the cost of a person from calls for its own source', async () => {
  const own = 'https://own.example/api/v1';
  for (const credits of [10, 20, 30]) await settledCall(own, credits, 'hubspot');
  await settledCall(own, 60, 'zoho');
  expect(await readCallHistory(warehouse, askedOf(own), 'hubspot', 'new')).toMatchObject({
    calls: 3,
    perPerson: wholeCredits(2),
    deviation: 1,
  });
  expect(await readCallHistory(warehouse, askedOf(own), 'pipedrive', 'new')).toBeUndefined();
});

it('a plan learns nothing from calls that left out a part of what their run asked for', async () => {
  const asked = { service: 'https://late.example/api/v1', reveal: ['phone'], waterfall: ['email'] };
  const { runId } = await stagedRun(warehouse, []);
  await warehouse.query`
    update runs
    set options = options || ${JSON.stringify(asked)}::jsonb, plan = '{"people": 20, "found_before": 0}'
    where run_id = ${runId}`;
  await warehouse.query`
    insert into run_people (run_id, position, row_number, left_out)
    select ${runId}, n, n, case when n < 10 then '{}'::text[] else '{phone}' end from generate_series(0, 19) n`;
  await warehouse.query`
    insert into attempts (attempt_id, run_id, batch, status, people, credits_reserved, credits_settled, budget_ids,
      token_hash, answered_at)
    values ('all', ${runId}, 1, 'settled', 10, 90, 60, '{}', 'a', now()),
      ('part', ${runId}, 2, 'settled', 10, 20, 10, '{}', 'b', now())`;
  expect(await readCallHistory(warehouse, asked, 'generic', 'new')).toMatchObject({
    calls: 1,
    perPerson: wholeCredits(6),
  });
});

it('a plan for new people learns nothing from calls for people who were found before', async () => {
  const service = 'https://again.example/api/v1';
  await settledCall(service, 10, 'hubspot', 1);
  await settledCall(service, 90, 'hubspot', 9);
  expect(await readCallHistory(warehouse, askedOf(service), 'hubspot', 'new')).toMatchObject({
    calls: 1,
    perPerson: wholeCredits(1),
  });
  expect(await readCallHistory(warehouse, askedOf(service), 'hubspot', 'found before')).toMatchObject({
    calls: 1,
    perPerson: wholeCredits(9),
  });
});
