import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { z } from 'zod';
import { lineageEventSchema } from './lineage-schema.ts';

type LineageEvent = z.infer<typeof lineageEventSchema>;

export interface LineageReceiver {
  readonly url: string;
  /** In the order in which they came. */
  readonly events: LineageEvent[];
  /** The `authorization` of each. */
  readonly keys: (string | undefined)[];
  close(): Promise<void>;
}

/** A receiver of OpenLineage events, which refuses an event that its schema does not allow. */
export async function startLineageReceiver(): Promise<LineageReceiver> {
  const events: LineageEvent[] = [];
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (text: Buffer) => (body += text.toString()));
    request.on('end', () => {
      const isKnown = request.method === 'POST' && request.url === '/api/v1/lineage';
      const { data } = lineageEventSchema.safeParse(isKnown ? JSON.parse(body) : undefined);
      if (data) {
        events.push(data);
        keys.push(request.headers.authorization);
      }
      response.writeHead(data ? 201 : isKnown ? 400 : 404).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    events,
    keys,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
