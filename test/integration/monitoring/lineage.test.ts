import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, expect, it, vi } from 'vitest';
import { startLineage } from '../../../src/monitoring/lineage.ts';
import { readRunFacts } from '../../../src/runs/read-run-facts.ts';
import { endRun } from '../../../src/runs/finish-run.ts';
import { setRunStatus } from '../../../src/runs/runs.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { startLineageReceiver } from '../../helpers/servers/lineage-receiver.ts';
import { listenHere } from '../../helpers/servers/ports.ts';
import { stagedRun, testSpec } from '../../helpers/warehouse/rows.ts';

const warehouse = await warehouseOfFile();
const log = createLogger({ level: 'silent', format: 'json' });
const source = {
  namespace: 'crm',
  databaseUrl: 'postgres://me:secret@db.example:5433/warehouse',
  version: '1.2.3',
};

const receiver = await startLineageReceiver();

afterAll(() => receiver.close());

it('a finished run sends the OpenLineage events START and COMPLETE, without personal data', async () => {
  const lineage = startLineage(warehouse, { url: receiver.url, apiKey: 'key-1' }, source, log);
  const spec = { ...testSpec(), filePath: 's3://exports/ada@orbit.example/contacts.csv' };
  const { runId } = await stagedRun(warehouse, [{ keys: [], outcome: 'enriched' }], spec);
  lineage.started(runId);
  await endRun(warehouse, runId, 'finished', undefined);
  lineage.ended(await readRunFacts(warehouse, runId));
  await lineage.close();
  expect(receiver.keys).toEqual(['Bearer key-1', 'Bearer key-1']);
  const [start, complete] = receiver.events;
  expect(start).toMatchObject({
    eventType: 'START',
    schemaURL: 'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent',
    run: {
      runId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    },
    job: { namespace: 'crm', name: 'enrich.generic' },
    inputs: [{ namespace: 's3://exports', name: '[email]' }],
  });
  expect(complete).toMatchObject({ eventType: 'COMPLETE', run: { runId: start!.run.runId } });
  expect(complete!.outputs[0]).toMatchObject({
    namespace: 'postgres://db.example:5433',
    name: 'warehouse.enrichment.enriched_contacts',
    outputFacets: { outputStatistics: { rowCount: 1 } },
  });
  expect(JSON.stringify(receiver.events)).not.toMatch(/secret|ada@/);
});

it('a run with a refused export sends the OpenLineage events START and FAIL with the reason', async () => {
  receiver.events.length = 0;
  const lineage = startLineage(warehouse, { url: receiver.url, apiKey: undefined }, source, log);
  const { runId } = await stagedRun(warehouse, []);
  await warehouse.query`update runs set ingested_at = null where run_id = ${runId}`;
  const reason = { type: 'export.missing', reason: 'the file is missing', next: 'export it' };
  await setRunStatus(warehouse, runId, 'failed', reason);
  lineage.ended(await readRunFacts(warehouse, runId));
  await lineage.close();
  expect(receiver.events.map(({ eventType }) => eventType)).toEqual(['START', 'FAIL']);
  expect(receiver.events[1]!.run).toMatchObject({ facets: { errorMessage: { message: reason.reason } } });
});

it('an OpenLineage receiver that never answers delays no run, and a stopping worker by two seconds only', async () => {
  const { runId } = await stagedRun(warehouse, []);
  const silent = createServer();
  const port = await listenHere(silent);
  const asked = once(silent, 'request');
  const lineage = startLineage(
    warehouse,
    { url: `http://127.0.0.1:${port}`, apiKey: undefined },
    source,
    log,
  );
  expect(lineage.started(runId)).toBeUndefined();
  await asked;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const closed = lineage.close();
    await vi.advanceTimersByTimeAsync(2_000);
    await expect(closed).resolves.toBeUndefined();
  } finally {
    vi.useRealTimers();
    silent.close();
    silent.closeAllConnections();
  }
});
