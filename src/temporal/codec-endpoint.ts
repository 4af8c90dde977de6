import { createHash, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Payload, PayloadCodec } from '@temporalio/common';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ListenAddress } from '../config/settings.ts';
import { Problem } from '../domain/problem.ts';

/** Maximum size of a request. The Temporal UI sends all payloads of a page of a history in one request. */
const longestBody = 32 * 1_048_576;

const body = z.object({
  // The `temporal` command leaves out `payloads` if a query or an update has no arguments.
  payloads: z
    .array(z.object({ metadata: z.record(z.string(), z.base64()).optional(), data: z.base64().optional() }))
    .default([]),
});
type JsonPayload = z.infer<typeof body>['payloads'][number];

export interface CodecEndpointSettings {
  readonly codec: PayloadCodec;
  readonly listen: ListenAddress;
  /** Origins of the Temporal UI, such as `http://127.0.0.1:8233`. All other origins are refused. */
  readonly origins: readonly string[];
  readonly token: string | undefined;
}

/** Serves Temporal's remote codec protocol, without a log: payloads contain the data that encryption protects. */
export async function startCodecEndpoint({ codec, listen, origins, token }: CodecEndpointSettings) {
  const server = fastify({ logger: false, bodyLimit: longestBody });
  // Without this check, a page of another origin could decode payloads with the rights of the user who opens it.
  server.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers;
    if (origin === undefined) return;
    if (!origins.includes(origin)) return reply.code(403).send({ error: 'this origin is not allowed' });
    reply.headers({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': request.headers['access-control-request-headers'] ?? 'content-type',
      vary: 'origin, access-control-request-headers',
    });
  });
  // The token is checked before the body is read, because bodies are large.
  const requireToken = async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (token !== undefined && !isBearer(headers.authorization, token))
      await reply.code(401).send({ error: 'the bearer token is missing or wrong' });
  };
  for (const path of ['/encode', '/decode'] as const) {
    server.options(path, (_, reply) => reply.code(204).send());
    server.post(path, { onRequest: requireToken }, async (request, reply) => {
      const given = body.safeParse(request.body);
      if (!given.success) return reply.code(400).send({ error: 'no payloads' });
      try {
        const payloads = given.data.payloads.map(fromJson);
        const done = path === '/encode' ? await codec.encode(payloads) : await codec.decode(payloads);
        return { payloads: done.map(toJson) };
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return reply.code(400).send({ error: `${error.message}: ${error.next}` });
      }
    });
  }
  // Fastify writes to its options, and settings are frozen, so Fastify gets a copy.
  await server.listen({ ...listen });
  const { port } = server.server.address() as AddressInfo;
  return { host: listen.host, port, close: () => server.close() };
}

/** Compares tokens by their hashes, so that the duration reveals neither the token nor its length. */
function isBearer(header: string | undefined, token: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(header ?? ''), hash(`Bearer ${token}`));
}

/** The remote codec protocol writes bytes in base64. */
function fromJson({ metadata = {}, data }: JsonPayload): Payload {
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')]),
    ),
    ...(data !== undefined && { data: Buffer.from(data, 'base64') }),
  };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]),
    ),
    ...(data && { data: base64(data) }),
  };
}
