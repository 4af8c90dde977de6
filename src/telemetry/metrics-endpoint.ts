import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { ListenAddress } from '../config/settings.ts';
import { Problem } from '../domain/problem.ts';
import type { Logger } from './log.ts';

/** Where a scrape takes its metrics from. */
export interface MetricsSources {
  readonly process: Registry;
  /** Metrics of the state in the database, as text; bounded in time, and never failing. */
  readonly warehouse: () => Promise<string>;
  /** Where Temporal's SDK serves its own metrics, on this machine only; undefined: no worker runs in this process. */
  readonly temporal: string | undefined;
}

export interface RunningMetrics {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** The SDK answers from memory, on the same machine. */
const temporalMilliseconds = 1_000;

/**
 * Serves `GET /metrics`, everything that this process has to say in one scrape, and `GET /healthz`, which says only
 * that the process lives.
 *
 * A source that is away leaves its metrics out and takes none of the others along: a scrape is most needed when
 * something is broken.
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
        log.error({ err: error }, 'the metrics could not be collected');
        response.writeHead(500).end();
      },
    );
  });
  await listening(server, listen);
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

function listening(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      reject(
        new Problem('port.taken', `port ${port} is taken: metrics cannot be served on it`, {
          where: 'METRICS_LISTEN',
          next: 'end the program that holds it, set another port, or 0 for a free one',
        }),
      );
    });
    server.listen(port, host);
  });
}
