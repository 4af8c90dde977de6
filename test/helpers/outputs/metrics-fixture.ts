import { ProcessMetrics } from '../../../src/telemetry/process-metrics.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { startMetricsEndpoint } from '../../../src/telemetry/process-metrics.ts';
import type { AdmissionLimits } from '../../../src/ledger/admit.ts';
import { readWarehouseMetrics } from '../../../src/monitoring/warehouse-metrics.ts';
import { failureKinds } from '../../../src/service/failures/failure.ts';
import { openWarehouse } from '../../../src/db/database.ts';

/**
 * Serves the metrics of a process as a command does.
 *
 * @param temporal address of a server that stands for the exporter of Temporal's SDK
 */
export async function openMetricsFixture(
  databaseUrl: string,
  options: { limits?: Partial<AdmissionLimits>; temporal?: string } = {},
) {
  const warehouse = openWarehouse(databaseUrl, {
    connections: 1,
    connectMilliseconds: 2_000,
    queryMilliseconds: 4_000,
  });
  const limits = { service: 'test', rateLimits: [], budgets: {}, ...options.limits };
  const process = new ProcessMetrics('1.2.3', Object.keys(failureKinds));
  const endpoint = await startMetricsEndpoint(
    { host: '127.0.0.1', port: 0 },
    {
      process: process.registry,
      warehouse: () => readWarehouseMetrics(warehouse, limits),
      temporal: options.temporal,
    },
    createLogger({ level: 'silent', format: 'json' }),
  );
  return {
    process,
    scrape: async () => {
      const answer = await fetch(`http://127.0.0.1:${endpoint.port}/metrics`);
      return answer.text();
    },
    close: async () => {
      await endpoint.close();
      await warehouse.close();
    },
  };
}

/** The value of a series of a scrape, such as `name{label="value"}`; undefined without such a series. */
export function seriesValue(scrape: string, series: string): number | undefined {
  const line = scrape.split('\n').find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

/** The names of all metrics of a scrape, including the series of histograms. */
export function metricNames(scrape: string): Set<string> {
  const names = new Set<string>();
  for (const [, name = '', type = ''] of scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    names.add(name);
    if (type === 'histogram') for (const suffix of ['bucket', 'sum', 'count']) names.add(`${name}_${suffix}`);
  }
  return names;
}
