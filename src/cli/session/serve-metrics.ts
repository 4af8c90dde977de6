import { serviceName, type Config } from '../../config/settings.ts';
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
  /** Where Temporal's SDK is to serve its own, for our endpoint to hand on. */
  readonly temporalListen: string;
  close(): Promise<void>;
}

/** The endpoint must answer quickly when the database does not. */
const databaseMilliseconds = 2_000;

/**
 * Serves metrics at METRICS_LISTEN.
 *
 * @returns undefined where it is not set
 * @throws Problem `port.taken`
 */
export async function serveMetrics(
  config: Config,
  databaseUrl: string,
  log: Logger,
): Promise<ServedMetrics | undefined> {
  if (!config.metricsListen) return undefined;
  const process = new ProcessMetrics(version, Object.keys(failureKinds));
  // A connection of its own: a pool that is used up is among the things to be seen.
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
    tell(`metrics on http://${endpoint.host}:${endpoint.port}/metrics`);
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
