import { expect, it } from 'vitest';
import { describeLostContacts } from '../../../src/cli/run/describe-lost-contacts.ts';
import { readLostContacts } from '../../../src/report/figures/read-lost-contacts.ts';
import { reconcileContacts } from '../../../src/runs/reconciliation/reconcile-contacts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
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
