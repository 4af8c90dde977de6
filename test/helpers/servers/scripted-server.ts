import { createServer, type Socket } from 'node:net';
import { listenHere } from './ports.ts';

export interface ScriptedServer {
  readonly port: number;
  /** `http://127.0.0.1:<port>/api/v1` */
  readonly baseUrl: string;
  /** Complete requests that arrived, each with head and body. */
  readonly requests: string[];
  close(): Promise<void>;
}

/**
 * Starts a TCP server, for answers that no HTTP server gives.
 *
 * @param onRequest called with the socket after each complete request
 * @param onConnection called first; returns true to handle the connection itself
 */
export async function startScriptedServer(
  onRequest: (socket: Socket, request: string) => void,
  onConnection: (socket: Socket) => boolean = () => false,
): Promise<ScriptedServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    if (onConnection(socket)) return;
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (!isWhole(received)) return;
      requests.push(received);
      const request = received;
      received = '';
      onRequest(socket, request);
    });
  });
  const port = await listenHere(server);
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    requests,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns an HTTP answer with its content-length, for `socket.write`. */
export function httpAnswer(
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const bytes = Buffer.from(body);
  const lines = Object.entries({
    'content-type': 'application/json',
    'content-length': String(bytes.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`), bytes]);
}

function isWhole(received: string): boolean {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const length = Number(/^content-length: *(\d+)/im.exec(received.slice(0, headEnd))?.[1] ?? 0);
  return received.length >= headEnd + 4 + length;
}
