import { expect, it } from 'vitest';
import { erase } from '../../../src/privacy/erase.ts';
import { findNamesakes } from '../../../src/privacy/person-traces.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile();

it('findNamesakes() names a person of the same name in an answer to a call for the erased person', async () => {
  const name = { firstName: 'Ada', lastName: 'Novak' };
  const row = { keys: ['email:ada@acme.example'], email: 'ada@acme.example', ...name };
  const runId = await runningRunOf(warehouse, [
    row,
    { keys: ['email:bob@acme.example'], email: 'bob@acme.example', firstName: 'Bob', lastName: 'Quist' },
  ]);
  // The service has merged the person's records: another id, and another address at the same domain.
  await answerBatch(warehouse, { runId }, () => [
    { id: 'merged', first_name: 'Ada', last_name: 'Novak', email: 'ada.novak@acme.example' },
    { id: 'bob', first_name: 'Bob', last_name: 'Quist', email: 'bob@acme.example' },
  ]);
  expect(await findNamesakes(warehouse, row.keys)).toEqual(['person:merged']);
  await erase(warehouse, ['person:merged'], { by: 'somebody', reason: undefined });
  expect(await findNamesakes(warehouse, row.keys)).toEqual([]);
});

it('findNamesakes() names no person if the answer is about the erased person', async () => {
  const row = {
    keys: ['email:zoe@acme.example'],
    email: 'zoe@acme.example',
    firstName: 'Zoe',
    lastName: 'Lind',
  };
  const runId = await runningRunOf(warehouse, [row]);
  await answerBatch(warehouse, { runId }, () => [
    { id: 'zoe', first_name: 'Zoe', last_name: 'Lind', email: 'zoe@acme.example' },
  ]);
  expect(await findNamesakes(warehouse, row.keys)).toEqual([]);
});
