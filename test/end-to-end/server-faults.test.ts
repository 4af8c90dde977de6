import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../../src/dev/postgres.ts';
import { sampleExport } from '../../src/sandbox/population/sample-export.ts';
import { openWarehouse } from '../../src/db/database.ts';
import { TestHouse, type Begun } from '../helpers/command-line.ts';
import { expectPromisesKept } from '../helpers/promises.ts';

/** A server as it is deployed: worker and command are processes of their own, and what they need breaks beneath them. */
let house: TestHouse;
let begun: Begun[] = [];

beforeEach(async () => {
  house = await TestHouse.open({ latency: 150 });
});

afterEach(async () => {
  for (const process of begun) process.kill('SIGTERM');
  await Promise.all(begun.map((process) => process.ended));
  begun = [];
  await house.close();
});

function begin(parameters: readonly string[], settings: Record<string, string>): Begun {
  const process = house.begin(parameters, settings);
  begun.push(process);
  return process;
}

function sample(people: number, seed: number): string {
  const file = join(house.directory, 'contacts.csv');
  writeFileSync(file, [...sampleExport({ people, seed })].join(''));
  return file;
}

async function untilCalls(calls: number): Promise<void> {
  await expect.poll(() => house.sandbox.log.calls().length, { timeout: 120_000 }).toBeGreaterThan(calls);
}

describe('a server that is killed in the middle of a run and started again', () => {
  it('Temporal: the run goes on, and nobody is paid for twice', async () => {
    const settings = house.sharedTemporal();
    begin(['worker'], settings);
    const running = house.enrich(['run', sample(300, 31), '--yes', '--json'], settings);
    await untilCalls(4);
    await house.restartTemporal();
    expect((await running).facts()).toMatchObject({ status: 'finished', credits: { unknown: '0' } });
    expect(house.sandbox.log.bill().billedAgain).toEqual({});
    await expectPromisesKept(house);
  });

  it('PostgreSQL: the run goes on, and nobody is paid for twice', async () => {
    const directory = join(house.directory, 'postgres');
    const postgres = await startEmbeddedPostgres({ directory });
    const settings = { ...house.sharedTemporal(), DATABASE_URL: postgres.databaseUrl };
    begin(['worker'], settings);
    const running = house.enrich(['run', sample(300, 32), '--yes', '--json'], settings);
    await untilCalls(4);
    process.kill(postgres.pid, 'SIGKILL');
    await startEmbeddedPostgres({ directory });
    expect((await running).facts()).toMatchObject({ status: 'finished' });
    expect(house.sandbox.log.bill().billedAgain).toEqual({});
    const warehouse = openWarehouse(postgres.databaseUrl, { connections: 2 });
    await expectPromisesKept({ warehouse, sandbox: house.sandbox });
    await warehouse.close();
    await stopEmbeddedPostgres(directory);
  });
});
