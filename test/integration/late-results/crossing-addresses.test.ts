import { expect, it } from 'vitest';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answeredCall, drainCall, storeFor, type PhonesCall } from '../../helpers/warehouse/late-calls.ts';

/** A connection for each delivery that is applied. */
const connections = 2;
const warehouse = await warehouseOfFile({ connections });

/** The server's count: transactions begin again after a deadlock, so that their callers do not see it. */
async function countDeadlocks(): Promise<number> {
  const each = Array.from({ length: connections }, () =>
    warehouse.pool.query('select pg_stat_force_next_flush(), pg_sleep(0.05)'),
  );
  await Promise.all(each);
  const rows = await warehouse.query<{ deadlocks: number }>`
    select deadlocks::int from pg_stat_database where datname = current_database()`;
  return rows[0]!.deadlocks;
}

/** A body that gives each person of a call the address of a person of another call. */
function addressesOf(call: PhonesCall, other: PhonesCall): Buffer {
  const people = call.ids.map((id, index) => ({
    id,
    emails: [{ email: other.people[index]!.identity.email, email_status_cd: 'verified' }],
  }));
  return Buffer.from(JSON.stringify({ credits_consumed: 3, people }));
}

it('deliveries that bring the addresses of people of each other are applied at once without a deadlock', async () => {
  for (let pair = 0; pair < 10; pair += 1) {
    const waterfall = { reveal: [], waterfall: ['email' as const] };
    const one = await answeredCall(warehouse, waterfall);
    const other = await answeredCall(warehouse, waterfall);
    await storeFor(warehouse, one, addressesOf(one, other));
    await storeFor(warehouse, other, addressesOf(other, one));
    await Promise.all([drainCall(warehouse, one), drainCall(warehouse, other)]);
  }
  expect(await countDeadlocks()).toBe(0);
});
