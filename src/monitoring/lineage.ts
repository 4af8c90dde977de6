import { createHash } from 'node:crypto';
import type { RunFacts } from '../contract/run-facts.ts';
import type { Warehouse } from '../db/database.ts';
import { withoutPersonalData } from '../domain/text/without-personal-data.ts';
import { parseAddress } from '../ingest/sources/export-address.ts';
import { getRun, type RunRecord } from '../runs/runs.ts';
import type { Logger } from '../telemetry/log.ts';
import { postJson } from './notification-channels.ts';

/** Sender of OpenLineage events. Events can be lost: runs do not wait for the receiver and do not fail with it. */
export type Lineage = ReturnType<typeof startLineage>;

const closingMilliseconds = 2_000;
/** Maximum number of events that wait while the receiver is unreachable. Later events are dropped. */
const maxWaiting = 100;

const typeOf: Readonly<Record<string, LineageType>> = {
  finished: 'COMPLETE',
  cancelled: 'ABORT',
  failed: 'FAIL',
};

/** Starts the sender. Events are sent one after another; `close` waits two seconds for the rest. */
export function startLineage(
  warehouse: Warehouse,
  receiver: { readonly url: string; readonly apiKey: string | undefined },
  source: LineageSource,
  log: Logger,
) {
  const stopped = new AbortController();
  const address = `${receiver.url.replace(/\/$/, '')}/api/v1/lineage`;
  const headers = receiver.apiKey === undefined ? {} : { authorization: `Bearer ${receiver.apiKey}` };
  let waiting = 0;
  let sending: Promise<void> = Promise.resolve();
  const deliver = async (runId: string, type: LineageType, at: Date, enriched?: number): Promise<void> => {
    const run = await getRun(warehouse, runId);
    // Receivers expect a START event for each run. A run with a refused export has not sent one.
    const types = type === 'FAIL' && run.ingestedAt === null ? (['START', type] as const) : [type];
    for (const each of types) {
      const body = JSON.stringify(lineageEvent(source, each, run, { at, enriched }));
      await postJson(address, body, headers, stopped.signal);
    }
  };
  /** Queues an event. @param enriched number of enriched rows, for an ended run */
  const send = (runId: string, type: LineageType, enriched?: number): void => {
    if (waiting >= maxWaiting) return;
    waiting += 1;
    const at = new Date();
    sending = sending
      .then(() => deliver(runId, type, at, enriched))
      .catch((error: unknown) =>
        log.warn({ runId, event: type, err: error }, 'a lineage event was not delivered'),
      )
      .finally(() => (waiting -= 1));
  };
  return {
    started: (runId: string): void => send(runId, 'START'),
    ended: ({ run_id: runId, status, outcomes }: RunFacts): void => {
      const type = typeOf[status];
      if (type !== undefined) send(runId, type, outcomes['enriched'] ?? 0);
    },
    close: async (): Promise<void> => {
      const timer = setTimeout(() => stopped.abort(), closingMilliseconds);
      await sending;
      clearTimeout(timer);
    },
  };
}

export type LineageType = 'START' | 'COMPLETE' | 'ABORT' | 'FAIL';

interface Dataset {
  readonly namespace: string;
  readonly name: string;
}

export interface LineageSource {
  readonly namespace: string;
  readonly databaseUrl: string;
  readonly version: string;
}

const spec = 'https://openlineage.io/spec';
const outputTables = ['enriched_contacts', 'people', 'organizations', 'observations', 'changes'];

/**
 * Makes an event of OpenLineage 2-0-2. The export is the input, and tables of the warehouse are the outputs. The event
 * has names, counts and times, without personal data.
 *
 * @public used by `scripts/check-data-tools.mjs`
 */
export function lineageEvent(
  { namespace, databaseUrl, version }: LineageSource,
  type: LineageType,
  run: RunRecord,
  { at, enriched }: { readonly at: Date; readonly enriched?: number | undefined },
): object {
  const producer = `urn:enrich:${version}`;
  const facet = (release: string, name: string) => ({
    _producer: producer,
    _schemaURL: `${spec}/facets/${release}/${name}.json#/$defs/${name}`,
  });
  const source = run.source ?? run.options.source ?? 'export';
  const database = databaseOf(databaseUrl);
  return {
    eventType: type,
    eventTime: at.toISOString(),
    producer,
    schemaURL: `${spec}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
    run: {
      runId: uuidOf(run.runId),
      facets: {
        nominalTime: {
          ...facet('1-0-1', 'NominalTimeRunFacet'),
          nominalStartTime: run.asOf.toISOString(),
        },
        ...(type === 'FAIL' && {
          errorMessage: {
            ...facet('1-0-1', 'ErrorMessageRunFacet'),
            message: withoutPersonalData(run.pauseReason?.reason ?? 'the run failed'),
            programmingLanguage: 'TypeScript',
          },
        }),
      },
    },
    job: { namespace, name: `enrich.${run.options.schedule ?? source}` },
    inputs: [inputOf(run.filePath, database)],
    outputs: outputTables.map((table) => ({
      namespace: database.namespace,
      name: `${database.name}.enrichment.${table}`,
      ...(table === 'enriched_contacts' &&
        enriched !== undefined && {
          outputFacets: {
            outputStatistics: {
              ...facet('1-0-2', 'OutputStatisticsOutputDatasetFacet'),
              rowCount: enriched,
            },
          },
        }),
    })),
  };
}

/** Names the export of a run by OpenLineage's naming rules. */
function inputOf(filePath: string, database: Dataset): Dataset {
  const address = parseAddress(filePath, '/');
  switch (address.kind) {
    case 'file':
      return { namespace: 'file', name: withoutPersonalData(address.path) };
    case 'standard-input':
      return { namespace: 'file', name: 'standard input' };
    case 'http': {
      const { origin, pathname } = new URL(address.shown);
      return { namespace: origin, name: withoutPersonalData(pathname) };
    }
    case 's3':
      return { namespace: `s3://${address.bucket}`, name: withoutPersonalData(address.key) };
    case 'query':
      return { namespace: database.namespace, name: `${database.name}.query` };
  }
}

/** Names the warehouse by OpenLineage's naming rules. */
function databaseOf(databaseUrl: string): Dataset {
  const { hostname, port, pathname } = new URL(databaseUrl);
  return { namespace: `postgres://${hostname || 'localhost'}:${port || '5432'}`, name: pathname.slice(1) };
}

/** Returns the UUID (version 8) of a run for OpenLineage. All events of the run share it. */
function uuidOf(runId: string): string {
  const hex = createHash('sha256').update(runId).digest('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}
