import { expect, it } from 'vitest';
import { describeContestedRows, describeLostContacts } from '../../../src/cli/run/describe-run.ts';
import { readContestedRows, readLostContacts } from '../../../src/report/figures.ts';
import { gatherReport } from '../../../src/report/gather.ts';
import { renderReport } from '../../../src/report/render.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { putOnList } from '../../helpers/warehouse/put-on-list.ts';
import { asked, stagedRun } from '../../helpers/warehouse/rows.ts';
import { answerBatch, runningRunOf } from '../../helpers/warehouse/scripted-calls.ts';

const warehouse = await warehouseOfFile();

const { signal } = new AbortController();

it('the status of a run says why a contact lost its person to a rival of another CRM', async () => {
  const row = (local: string) => ({
    firstName: 'Ada',
    lastName: 'Novak',
    organizationName: 'Acme Widgets',
    keys: [`email:${local}@acme.example`],
    email: `${local}@acme.example`,
    contactId: local,
  });
  const organization = { name: 'Acme Widgets', primary_domain: 'acme.example' };
  const runId = await runningRunOf(warehouse, [row('an')], { source: 'hubspot' });
  await answerBatch(warehouse, { runId }, () => [
    { id: 'ada', first_name: 'Ada', last_name: 'Novak', organization },
  ]);
  const lines = async (): Promise<readonly string[]> =>
    describeLostContacts({ run_id: runId }, await readLostContacts(warehouse.database, runId));
  expect(await lines()).toEqual([]);
  const later = await runningRunOf(warehouse, [row('ada.n')], { source: 'salesforce' });
  await reconcileContacts(warehouse, later, signal);
  expect(await lines()).toEqual([
    '  1 row: the contact has lost its person since: another contact could be this person as well',
    expect.stringContaining('next: give these contacts'),
    expect.stringContaining(`from row_results where run_id = '${runId}'`),
  ]);
});

it('the status and the report of a run say that a record id names different people', async () => {
  const { runId } = await stagedRun(warehouse, [
    { keys: ['email:a1'], contactId: '9001', firstName: 'Ada', lastName: 'Novak' },
    { keys: ['email:b1'], contactId: '9001', firstName: 'Bob', lastName: 'Quist' },
    { keys: ['email:c1'], contactId: '9002', firstName: 'Cleo', lastName: 'Adler' },
    { keys: ['email:c1'], contactId: '9002', firstName: 'Cleo', lastName: 'Adler' },
  ]);
  await planRows(warehouse, runId, asked);
  expect(
    describeContestedRows({ run_id: runId }, await readContestedRows(warehouse.database, runId)),
  ).toEqual([
    '  2 rows have a record id that names different people in the file',
    expect.stringContaining('next: correct these record ids in the CRM'),
    expect.stringContaining(`from run_rows where run_id = '${runId}'`),
  ]);
  const report = await gatherReport(warehouse, runId, { rateLimits: [], now: new Date() });
  expect(report.contested_rows).toBe(2);
  expect(report.needs_person).toEqual([
    {
      what: '2 rows have a record id that names different people in the file.',
      next: expect.stringContaining('correct these record ids in the CRM'),
    },
  ]);
  expect(renderReport(report, 'terminal')).toContain('Rows whose record id names different people');
  await putOnList(warehouse, 'email:b1');
  await reconcileContacts(warehouse, runId, signal);
  // A suppressed row needs no correction.
  expect(await readContestedRows(warehouse.database, runId)).toBe(1);
});
