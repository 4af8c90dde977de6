import type { Credential } from '../../../src/config/settings.ts';
import { readBulkAnswer, type BulkAnswer } from '../../../src/service/answers/bulk-answer.ts';
import { createServiceClient, serviceOperations, type ServiceClient } from '../../../src/service/client.ts';
import type { ServiceFailure } from '../../../src/service/failures/failure.ts';
import type { Headers, HttpAnswer, Transport } from '../../../src/service/transport.ts';

/** Creates a client of the service. */
export function testClient({
  baseUrl = 'https://service.example/api/v1',
  credential = { kind: 'api-key', value: 'key-1' },
  callTimeoutSeconds = 5,
  transport,
}: {
  readonly baseUrl?: string;
  readonly credential?: Credential | undefined;
  readonly callTimeoutSeconds?: number;
  readonly transport?: Transport;
}): ServiceClient {
  const settings = { baseUrl, credential, callTimeoutSeconds, pollPath: '/webhook_result/{request_id}' };
  return createServiceClient(settings, transport);
}

/** Returns an answer as the transport reads it. @param body text, or content that becomes JSON */
export function readAnswer(body: unknown, status = 200, headers: Headers = {}): HttpAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers, body: Buffer.from(text), receivedAt: 0 };
}

/** Reads the answer to a bulk call. */
export function bulkAnswer(...of: Parameters<typeof readAnswer>): BulkAnswer {
  return readBulkAnswer(readAnswer(...of), serviceOperations.bulkMatch);
}

/** Returns what decides about the next step of the caller: type, disposition, and whether the call may be billed. */
export function verdictOf({ type, disposition, mayHaveBeenBilled }: ServiceFailure): unknown[] {
  return [type, disposition, mayHaveBeenBilled];
}
