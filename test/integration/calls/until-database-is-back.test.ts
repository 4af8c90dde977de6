import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { untilDatabaseIsBack } from '../../../src/calls/attempt-call.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';

const warehouse = await warehouseOfFile();

it.each(['the rollback', 'the next statement'])(
  'untilDatabaseIsBack() repeats a transaction when PostgreSQL closes the connection before %s',
  async (statement) => {
    let tries = 0;
    const recorded = await untilDatabaseIsBack(() =>
      warehouse.database.transaction().execute(async (transaction) => {
        tries += 1;
        if (tries > 1) return 'recorded';
        const end = sql`select pg_terminate_backend(pg_backend_pid())`.execute(transaction);
        const failure = await end.then(
          () => undefined,
          (error: unknown) => error,
        );
        // The driver notices the closed connection in the meantime.
        await sleep(100);
        if (statement === 'the rollback') throw failure;
        return (await sql`select 1`.execute(transaction)).rows.length;
      }),
    );
    expect(recorded).toBe('recorded');
    expect(tries).toBe(2);
  },
);
