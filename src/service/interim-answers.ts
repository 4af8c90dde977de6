import { buildConnector } from 'undici';

const statusLine = Buffer.from('HTTP/1.');
/** In a status line, `HTTP/1.1 ` precedes the status. */
const statusOffset = 9;
const headEnd = '\r\n\r\n';

/**
 * Opens connections on which an interim answer `100 Continue` is skipped, as HTTP demands. undici closes the connection
 * at a 100 that it has not asked for, although proxies send it; it skips every other interim answer. So a 100 is read
 * as a 102.
 */
export function connectorSkippingContinue(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (to, callback) => {
    connect(to, (...opened) => {
      const [, socket] = opened;
      if (socket) {
        const read = socket.read.bind(socket);
        socket.read = (size?: number): unknown => {
          const bytes: unknown = read(size);
          return Buffer.isBuffer(bytes) ? withoutContinue(bytes) : bytes;
        };
      }
      callback(...opened);
    });
  };
}

/** Calls do not share a connection at the same time, so the first interim answer begins a chunk; others can follow. */
function withoutContinue(bytes: Buffer): Buffer {
  for (let start = 0; ;) {
    const status = statusAt(bytes, start);
    if (!status?.startsWith('1')) break;
    if (status === '100') bytes.write('102', start + statusOffset, 'latin1');
    const end = bytes.indexOf(headEnd, start);
    if (end === -1) break;
    start = end + headEnd.length;
  }
  return bytes;
}

function statusAt(bytes: Buffer, start: number): string | undefined {
  if (!bytes.subarray(start, start + statusLine.length).equals(statusLine)) return undefined;
  return bytes.toString('latin1', start + statusOffset, start + statusOffset + 3);
}
