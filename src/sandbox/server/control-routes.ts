import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import type { CallLog } from '../account/call-log.ts';
import type { Credentials } from '../account/credentials.ts';
import type { Faults } from '../faults/faults.ts';
import { openApi } from '../interface/openapi.ts';
import { parseJson } from './parse-json.ts';
import { scenarioSchema } from '../faults/scenario.ts';

const since = z.object({ since: z.coerce.number().int().min(0).default(0) });
const window = z.object({
  seconds: z.coerce.number().positive(),
  path: z.string().default('/people/bulk_match'),
});

/** Adds routes to control the sandbox: log, bill and faults. No scenario applies to them, and only one needs a key. */
export function addControlRoutes(
  server: FastifyInstance,
  parts: { readonly log: CallLog; readonly faults: Faults; readonly credentials: Credentials },
): void {
  const { log, faults, credentials } = parts;
  server.get('/openapi.json', () => openApi());
  server.get('/sandbox/ready', ({ headers }, reply) =>
    reply.code('kind' in credentials.check(headers, 'any', '/sandbox/ready') ? 204 : 401).send(),
  );
  server.get('/sandbox/bill', () => log.bill());
  server.get('/sandbox/log', (request, reply) => {
    const query = since.safeParse(request.query);
    return query.success ? log.calls(query.data.since) : refuse(reply, query.error);
  });
  server.get('/sandbox/late', () => log.lateResults());
  server.get('/sandbox/deliveries', () => log.deliveries());
  server.get('/sandbox/busiest', (request, reply) => {
    const query = window.safeParse(request.query);
    if (!query.success) return refuse(reply, query.error);
    const { seconds, path } = query.data;
    return { seconds, calls: log.busiest(seconds, path) };
  });
  server.post('/sandbox/token', (_request, reply) =>
    reply.type('text/plain').send(`${credentials.issue()}\n`),
  );
  server.put('/sandbox/scenario', (request, reply) => {
    const scenario = scenarioSchema.safeParse(parseJson(String(request.body)));
    if (!scenario.success) return refuse(reply, scenario.error);
    faults.set(scenario.data);
    return reply.code(204).send();
  });
}

function refuse(reply: FastifyReply, error: z.ZodError): FastifyReply {
  return reply.code(422).send({ error: z.prettifyError(error) });
}
