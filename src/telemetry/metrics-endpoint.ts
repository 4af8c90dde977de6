import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { ListenAddress } from '../config/settings.ts';
import { portTaken } from '../domain/port-taken.ts';
import type { Logger } from './log.ts';

/** The sources of a scrape. */
export interface MetricsSources {
  readonly process: Registry;
  /** Metrics of the database as text. Takes bounded time and never rejects. */
  readonly warehouse: () => Promise<string>;
  /** Address of the SDK's own metrics on this machine; undefined: this process has no worker. */
  readonly temporal: string | undefined;
}

export interface RunningMetrics {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Time limit for the SDK's metrics, which come from memory on the same machine. */
const temporalMilliseconds = 1_000;

/**
 * Serves `GET /metrics` with all metrics of this process, and `GET /healthz`, which only says that the
 * process is alive.
 *
 * A failed source only omits its own metrics, because operators need the others during an outage.
 *
 * @throws Problem `port.taken`
 */
export async function startMetricsEndpoint(
  listen: ListenAddress,
  sources: MetricsSources,
  log: Logger,
): Promise<RunningMetrics> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (request.method !== 'GET' || (path !== '/metrics' && path !== '/healthz')) {
      response.writeHead(404).end();
      return;
    }
    if (path === '/healthz') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"alive":true}');
      return;
    }
    collect(sources).then(
      (text) => response.writeHead(200, { 'content-type': sources.process.contentType }).end(text),
      (error: unknown) => {
        log.error({ err: error }, 'cannot collect the metrics');
        response.writeHead(500).end();
      },
    );
  });
  server.listen(listen.port, listen.host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    const otherPort = 'set another port (0 chooses a free one)';
    throw portTaken(listen.port, 'the metrics endpoint', 'METRICS_LISTEN', otherPort, error);
  });
  // An error without a listener would end the process.
  server.on('error', (error) => log.error({ err: error }, 'the metrics endpoint failed'));
  const { port } = server.address() as AddressInfo;
  return {
    host: listen.host,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function collect({ process, warehouse, temporal }: MetricsSources): Promise<string> {
  const parts = await Promise.all([process.metrics(), warehouse(), temporal && readTemporal(temporal)]);
  return parts
    .filter((part) => part !== undefined && part !== '')
    .map((part) => `${part!.trimEnd()}\n`)
    .join('');
}

async function readTemporal(address: string): Promise<string> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(temporalMilliseconds) });
    return answer.ok ? await answer.text() : '';
  } catch {
    return '';
  }
}
