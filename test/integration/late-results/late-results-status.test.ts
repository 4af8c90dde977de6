import { expect, it } from 'vitest';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import {
  callWithPhones,
  deliverTo,
  phonesBody,
  recordPhonesAnswer,
} from '../../helpers/warehouse/late-calls.ts';

const warehouse = await warehouseOfFile();

it('the facts of a run count applied, repeated and quarantined deliveries', async () => {
  const call = await callWithPhones(warehouse);
  await recordPhonesAnswer(warehouse, call);
  const body = phonesBody(call.ids, 24);
  await deliverTo(warehouse, call, body);
  await deliverTo(warehouse, call, body);
  await deliverTo(warehouse, call, Buffer.from('no JSON'));
  const { late_results: late } = await readRunFacts(warehouse, call.runId);
  expect(late).toMatchObject({ arrived: 1, duplicate: 1, quarantined: 1 });
});
