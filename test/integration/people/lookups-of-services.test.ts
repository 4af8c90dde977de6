import { expect, it } from 'vitest';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { insertLookup, asked, outcomesOf, stagedRun } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';
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

it('the same export at another service gives its contacts the people of that service', async () => {
  const row = {
    keys: ['email:mira.lindqvist@nordlys.example'],
    email: 'mira.lindqvist@nordlys.example',
    firstName: 'Mira',
    lastName: 'Lindqvist',
    contactId: 'moved',
  };
  for (const service of ['test', 'https://other.example/api/v1']) {
    const runId = await runningRunOf(warehouse, [row], { source: 'hubspot', service });
    const { email, firstName: first_name, lastName: last_name } = row;
    await answerBatch(warehouse, { runId }, () => [{ id: `at ${service}`, first_name, last_name, email }]);
    expect(await outcomesOf(warehouse, runId)).toEqual(['enriched']);
    const contacts = await warehouse.query`
      select service, person_id from enriched_contacts where contact_id = 'moved'`;
    expect(contacts).toEqual([{ service, person_id: `at ${service}` }]);
  }
});
