import { createServiceClient, type ServiceClient } from '../../../src/service/client.ts';
import { httpAnswer, startScriptedServer } from './scripted-server.ts';

/** A service that gives every poll the same answer. */
export interface PolledService {
  readonly client: ServiceClient;
  /** Complete requests, head and body. */
  readonly requests: string[];
  /** Sets the answer to polls. */
  answerWith(status: number, body: string): void;
  close(): Promise<void>;
}

export async function startPolledService(): Promise<PolledService> {
  let answer: Buffer = Buffer.alloc(0);
  const server = await startScriptedServer((socket) => void socket.end(answer));
  const client = createServiceClient({
    credential: { kind: 'api-key', value: 'key' },
    callTimeoutSeconds: 5,
    pollPath: '/webhook_result/{request_id}',
    baseUrl: server.baseUrl,
  });
  return {
    client,
    requests: server.requests,
    answerWith: (status, body) => {
      answer = httpAnswer(status, body, { 'content-type': 'application/json', connection: 'close' });
    },
    close: async () => {
      await client.close();
      await server.close();
    },
  };
}
