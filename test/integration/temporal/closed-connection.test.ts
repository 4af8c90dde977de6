import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { payloadCodec } from '../../../src/temporal/payload-codec.ts';
import { connectClient } from '../../../src/temporal/connection.ts';

/** A Temporal server as it is while it stops: it was there when we connected, and now refuses every call. */
const server = createServer();
server.on('stream', (stream, headers) => {
  const connecting = headers[':path']?.endsWith('/GetSystemInfo') === true;
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': connecting ? '0' : '14' }));
  stream.resume();
  // An empty message: five bytes of frame.
  stream.end(connecting ? Buffer.alloc(5) : undefined);
  if (!connecting) server.emit('refused');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => server.close());

it('a Temporal call that is being retried fails when its connection is closed', async () => {
  const { port } = server.address() as AddressInfo;
  const address = `127.0.0.1:${port}`;
  const client = await connectClient(
    { address, namespace: 'default', uiUrl: undefined, embedded: true },
    payloadCodec(undefined),
  );
  const refused = once(server, 'refused');
  const call = client.workflow.getHandle('run-1').signal('deliveryReceived');
  await refused;

  await client.connection.close();

  await expect(call).rejects.toThrow();
});
