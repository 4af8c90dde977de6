import { randomBytes, randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { historyToJSON, payloadToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { afterAll, expect, it } from 'vitest';
import { startCodecEndpoint } from '../../../src/temporal/codec-endpoint.ts';
import { EncryptingCodec } from '../../../src/temporal/payload-codec.ts';
import { callTaskQueues, controlTaskQueue, workflowTypes } from '../../../src/contract/temporal-names.ts';
import { runInput, ScriptedActivities } from '../../helpers/temporal/scripted-activities.ts';
import { startTestTemporal } from '../../helpers/temporal/temporal.ts';
import { builtWorkflowBundle, encodedFailures } from '../../helpers/temporal/workflow-bundle.ts';
import { workflowIsolate } from '../../../src/temporal/worker-options.ts';

const oldKey = { id: 'old', key: randomBytes(32) };
const newKey = { id: 'new', key: randomBytes(32) };

const workflowBundle = builtWorkflowBundle('workflow-bundle-encrypting');

const temporal = await startTestTemporal();

afterAll(() => temporal.stop());

function clientWith(codec: EncryptingCodec): Client {
  const { connection } = temporal.client;
  return new Client({ connection, namespace: temporal.namespace, dataConverter: { payloadCodecs: [codec] } });
}

async function start(codec: EncryptingCodec): Promise<string> {
  const runId = `run-${randomUUID()}`;
  await clientWith(codec).workflow.start(workflowTypes.run, {
    workflowId: runId,
    taskQueue: controlTaskQueue,
    args: [runInput(runId, { file: 'secret-customers.csv', maxCredits: '500' })],
    staticSummary: 'secret-customers.csv',
  });
  return runId;
}

/** Lets workers with a codec carry a run out. */
async function carryOut(
  runId: string,
  codec: EncryptingCodec,
  activities = new ScriptedActivities(),
): Promise<unknown> {
  const shared = {
    connection: temporal.workerConnection,
    namespace: temporal.namespace,
    activities,
    dataConverter: { payloadCodecs: [codec], ...encodedFailures() },
  };
  const control = await Worker.create({
    ...shared,
    ...workflowIsolate,
    workflowBundle,
    taskQueue: controlTaskQueue,
  });
  const calls = await Worker.create({ ...shared, taskQueue: callTaskQueues['ad-hoc'] });
  return control.runUntil(calls.runUntil(clientWith(codec).workflow.getHandle(runId).result()));
}

/** The history of a workflow as the server stores it, and a function that decodes the fields of a name. */
async function storedHistory(workflowId: string) {
  const text = historyToJSON(await temporal.client.workflow.getHandle(workflowId).fetchHistory());
  const bytes = (name: string): string[] =>
    [...text.matchAll(new RegExp(`"${name}":\\s*"([^"]*)"`, 'g'))].map(([, base64]) =>
      Buffer.from(base64!, 'base64').toString('latin1'),
    );
  return { text, bytes };
}

it('a run with encrypted payloads leaves no readable data in the histories of its workflows', async () => {
  const codec = new EncryptingCodec([oldKey]);
  const runId = await start(codec);
  await carryOut(runId, codec);
  for (const workflowId of [runId, `${runId}/page-1`]) {
    const { text, bytes } = await storedHistory(workflowId);
    expect(bytes('data').length).toBeGreaterThan(5);
    expect(new Set(bytes('encoding'))).toEqual(new Set(['binary/encrypted']));
    expect(bytes('data').join('\n')).not.toMatch(/secret-customers|creditsSettled|"batch"/);
    expect(text).not.toContain('secret-customers');
  }
});

it('a failed run with encrypted payloads leaves no readable message or stack trace in its history', async () => {
  const codec = new EncryptingCodec([oldKey]);
  const secret = 'column "Secret Customers" is missing';
  const activities = new ScriptedActivities();
  let tries = 0;
  // The first try is a failed activity, which Temporal retries; the second try ends the run.
  const ingest = activities.ingestExport;
  activities.ingestExport = async (...input) => {
    tries += 1;
    if (tries === 1) throw new Error(secret);
    return ingest(...input);
  };
  activities.ingested = {
    kind: 'refused',
    pauseReason: { type: 'export.unreadable', reason: secret, next: 'export it again' },
  };
  const runId = await start(codec);
  await carryOut(runId, codec, activities).catch(() => {});
  const { text, bytes } = await storedHistory(runId);
  expect(text).toContain('Encoded failure');
  expect(text).not.toMatch(/Secret Customers|export it again|\.js:\d+|\.ts:\d+/);
  expect(bytes('data').join('\n')).not.toMatch(/Secret Customers|stack_trace/);
});

const ui = 'http://127.0.0.1:8233';
const endpoint = await startCodecEndpoint({
  codec: new EncryptingCodec([newKey, oldKey]),
  listen: { host: '127.0.0.1', port: 0 },
  origins: [ui],
  token: 'let-me-read',
});

afterAll(() => endpoint.close());

const ask = (
  path: string,
  content: unknown,
  headers: Record<string, string> = { authorization: 'Bearer let-me-read' },
  method = 'POST',
): Promise<Response> =>
  fetch(`http://127.0.0.1:${endpoint.port}${path}`, {
    method,
    headers: { ...(method === 'POST' && { 'content-type': 'application/json' }), ...headers },
    ...(method === 'POST' && { body: typeof content === 'string' ? content : JSON.stringify(content) }),
  });

it('the codec server decodes payloads of a history', async () => {
  const runId = await start(new EncryptingCodec([oldKey]));
  const history = await temporal.client.workflow.getHandle(runId).fetchHistory();
  const { input } = history.events![0]!.workflowExecutionStartedEventAttributes!;
  const answer = await ask('/decode', { payloads: input!.payloads!.map(payloadToJSON) });
  const { payloads } = (await answer.json()) as { payloads: { data: string }[] };
  expect(JSON.parse(Buffer.from(payloads[0]!.data, 'base64').toString())).toMatchObject({
    runId,
    file: 'secret-customers.csv',
  });
  await temporal.client.workflow.getHandle(runId).terminate();
});

it('the codec server answers requests of the Temporal UI, not of other origins', async () => {
  const preflight = await ask(
    '/decode',
    undefined,
    { origin: ui, 'access-control-request-headers': 'x-namespace' },
    'OPTIONS',
  );
  expect(preflight.status).toBe(204);
  expect(Object.fromEntries(preflight.headers)).toMatchObject({
    'access-control-allow-origin': ui,
    'access-control-allow-headers': 'x-namespace',
    'access-control-allow-credentials': 'true',
  });
  const headers = { authorization: 'Bearer let-me-read', origin: 'https://evil.example' };
  expect((await ask('/decode', { payloads: [] }, headers)).status).toBe(403);
  expect(
    (await ask('/decode', undefined, headers, 'OPTIONS')).headers.get('access-control-allow-origin'),
  ).toBeNull();
});

it('the codec server refuses a request without the token, and does not read its body', async () => {
  expect((await ask('/decode', { payloads: [] }, {})).status).toBe(401);
  expect((await ask('/decode', '{', {})).status).toBe(401);
  expect((await ask('/decode', { payloads: [] }, { authorization: 'Bearer other' })).status).toBe(401);
});
