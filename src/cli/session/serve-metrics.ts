import { httpAddress, serviceName, type Config } from '../../config/settings.ts';
import { choosePort } from '../../dev/ports.ts';
import { startMetricsEndpoint } from '../../telemetry/metrics-endpoint.ts';
import type { Logger } from '../../telemetry/log.ts';
import { ProcessMetrics } from '../../telemetry/process-metrics.ts';
import { WarehouseMetrics } from '../../monitoring/warehouse-metrics.ts';
import { failureKinds } from '../../service/failures/failure-kinds.ts';
import { openWarehouse } from '../../db/database.ts';
import { tell } from '../terminal/output.ts';
import { version } from '../terminal/version.ts';

/** Metrics of this process, served while it runs. */
export interface ServedMetrics {
  readonly process: ProcessMetrics;
  /** Address at which Temporal's SDK serves its metrics, which this endpoint includes. */
  readonly temporalListen: string;
  close(): Promise<void>;
}

/** The endpoint must answer quickly even when the database does not. */
const databaseMilliseconds = 2_000;

/**
 * Serves metrics at METRICS_LISTEN.
 *
 * @returns undefined without METRICS_LISTEN
 * @throws Problem `port.taken`
 */
export async function serveMetrics(
  config: Config,
  databaseUrl: string,
  log: Logger,
): Promise<ServedMetrics | undefined> {
  if (!config.metricsListen) return undefined;
  const process = new ProcessMetrics(version, Object.keys(failureKinds));
  // A separate connection, because metrics must also show an exhausted pool.
  const warehouse = openWarehouse(databaseUrl, {
    connections: 1,
    connectMilliseconds: databaseMilliseconds,
    queryMilliseconds: 2 * databaseMilliseconds,
    applicationName: 'enrich metrics',
  });
  const { rateLimits, budgets } = config;
  const state = new WarehouseMetrics(warehouse, {
    service: serviceName(config),
    rateLimits,
    budgets: budgets.perPeriod,
  });
  const temporalListen = `127.0.0.1:${await choosePort(0, undefined)}`;
  try {
    const endpoint = await startMetricsEndpoint(
      config.metricsListen,
      {
        process: process.registry,
        warehouse: () => state.read(),
        temporal: `http://${temporalListen}/metrics`,
      },
      log,
    );
    tell(`metrics on ${httpAddress(endpoint)}/metrics`);
    return {
      process,
      temporalListen,
      close: async () => {
        await endpoint.close();
        await warehouse.close();
      },
    };
  } catch (error) {
    await warehouse.close();
    throw error;
  }
}
