import { expect, it } from 'vitest';
import { readContestedRows } from '../../../src/report/figures.ts';
import { gatherReport } from '../../../src/report/gather.ts';
import { renderReport } from '../../../src/report/render.ts';
import { planRows } from '../../../src/runs/planning/plan-rows.ts';
import { reconcileContacts } from '../../../src/runs/reconcile-contacts.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { putOnList, asked, stagedRun } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();

const { signal } = new AbortController();

it('the report of a run says that a record id names different people', async () => {
  const { runId } = await stagedRun(warehouse, [
    { keys: ['email:a1'], contactId: '9001', firstName: 'Ada', lastName: 'Novak' },
    { keys: ['email:b1'], contactId: '9001', firstName: 'Bob', lastName: 'Quist' },
    { keys: ['email:c1'], contactId: '9002', firstName: 'Cleo', lastName: 'Adler' },
    { keys: ['email:c1'], contactId: '9002', firstName: 'Cleo', lastName: 'Adler' },
  ]);
  await planRows(warehouse, runId, asked);
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
