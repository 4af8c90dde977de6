import { createServer } from 'node:http';
import { listenHere } from './ports.ts';

interface LineageEvent {
  readonly eventType: string;
  readonly schemaURL: string;
  readonly run: { readonly runId: string; readonly facets: object };
  readonly job: { readonly namespace: string; readonly name: string };
  readonly outputs: readonly object[];
}

/** Starts a receiver of OpenLineage events. `npm run check:data-tools` checks events against their specification. */
export async function startLineageReceiver() {
  const events: LineageEvent[] = [];
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (text: Buffer) => (body += text.toString()));
    request.on('end', () => {
      const isKnown = request.method === 'POST' && request.url === '/api/v1/lineage';
      if (isKnown) {
        events.push(JSON.parse(body) as LineageEvent);
        keys.push(request.headers.authorization);
      }
      response.writeHead(isKnown ? 201 : 404).end();
    });
  });
  const port = await listenHere(server);
  return {
    url: `http://127.0.0.1:${port}`,
    /** The received events, in the order of arrival. */
    events,
    /** The header `authorization` of each event. */
    keys,
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
