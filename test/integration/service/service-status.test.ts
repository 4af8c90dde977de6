import { afterEach, expect, it } from 'vitest';
import {
  checkRunService,
  fetchRateWindows,
  describeServiceStatus,
  readServiceStatus,
} from '../../../src/calls/service-status.ts';
import { countFreeSlots } from '../../../src/ledger/rate-windows.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { warehouseOfFile } from '../../helpers/database/database.ts';
import { runningRun } from '../../helpers/warehouse/rows.ts';
import { httpAnswer, startScriptedServer } from '../../helpers/servers/scripted-server.ts';
import { testClient } from '../../helpers/servers/test-client.ts';

const warehouse = await warehouseOfFile({ connections: 2 });

afterEach(async () => {
  await warehouse.query`delete from rate_calls; delete from rate_scopes; delete from rate_reports`;
});

const ok = httpAnswer(200, '{"is_logged_in":true}');
const user = httpAnswer(200, '{"id":"user-7","email":"canary@person.example"}');
const usage = (windows: object) =>
  httpAnswer(
    200,
    JSON.stringify({
      '["api/v1/people", "bulk_match"]': windows,
      '["api/v1/people", "match"]': { hour: { limit: 600, consumed: 590, left_over: 10 } },
      '["api/v1/webhook_result", "show"]': { minute: { limit: 50, consumed: 43, left_over: 7 } },
    }),
  );
const unused = usage({ hour: { limit: 600, consumed: 200, left_over: 400 } });
const refusal = (status: number) => httpAnswer(status, '{"error_code":"API_INACCESSIBLE"}');

interface Answers {
  readonly profile?: Buffer;
  readonly health?: Buffer;
  readonly usage?: Buffer;
  readonly poll?: Buffer;
}

function partsFor(baseUrl: string, key = 'canary-key') {
  const client = testClient({ baseUrl, credential: { kind: 'api-key', value: key } });
  return { warehouse, service: 'test', client, rateLimits: [], callTimeoutSeconds: 5 };
}

/** The service status, or the error, of a service with these answers, and the paths that were requested. */
async function learn(answers: Answers, needs = { polls: false }) {
  const server = await startScriptedServer((socket, request) => {
    if (request.includes('/api_profile')) socket.write(answers.profile ?? user);
    else if (request.includes('/auth/health')) socket.write(answers.health ?? ok);
    else if (request.includes('/api_usage_stats')) socket.write(answers.usage ?? unused);
    else socket.write(answers.poll ?? httpAnswer(404, '{"error_code":"request_id_unknown"}'));
  });
  const parts = partsFor(server.baseUrl);
  const outcome = await readServiceStatus(parts, needs).then(
    describeServiceStatus,
    (error: unknown) => error,
  );
  await parts.client.close();
  await server.close();
  return { outcome, asked: server.requests.map((request) => request.split(' ')[1]) };
}

it('the service status at the start of a run has the user and the calls left, from two free requests', async () => {
  const { outcome, asked } = await learn({});
  expect(outcome).toEqual(['acting as user user-7', 'bulk calls left at the service: 400 of 600 this hour']);
  expect(asked).toEqual(['/api/v1/users/api_profile', '/api/v1/usage_stats/api_usage_stats']);
});

it.each<[string, Answers]>([
  ['the profile returns 401', { profile: refusal(401) }],
  ['the profile returns 403 and health returns 401', { profile: refusal(403), health: refusal(401) }],
  ['the profile and health both return 403', { profile: refusal(403), health: refusal(403) }],
  [
    'the profile returns 404 and health says that nobody is logged in',
    { profile: refusal(404), health: httpAnswer(200, '{"is_logged_in":false}') },
  ],
])('the service status at the start of a run refuses the run if %s', async (_, answers) => {
  expect((await learn(answers)).outcome).toMatchObject({
    type: 'service.credential-refused',
    exitCode: 2,
    message: expect.stringContaining('nothing was spent'),
  });
});

it.each([404, 503])(
  'the service status at the start of a run allows the run if every endpoint returns %d',
  async (status) => {
    const answer = refusal(status);
    const answers = { profile: answer, health: answer, usage: answer, poll: answer };
    const { outcome } = await learn(answers, { polls: true });
    expect(outcome).toEqual([
      expect.stringMatching(/^the user of the credential is unknown/),
      expect.stringMatching(/^the service’s limits are unknown until its first answer/),
    ]);
  },
);

it('the service status at the start of a run allows the run if the key cannot read profile and usage', async () => {
  const { outcome } = await learn({ profile: refusal(403), usage: refusal(403) });
  expect(outcome).toHaveLength(2);
});

it('a key without the right to poll is refused only if results can come only by polls', async () => {
  const sandbox = await startSandbox({
    scenario: { rules: [{ path: '/webhook_result', status: 403 }] },
  });
  const parts = partsFor(sandbox.baseUrl, 'sandbox-key');
  await expect(readServiceStatus(parts, { polls: true })).rejects.toMatchObject({
    type: 'service.scope-missing',
    where: 'GET /webhook_result/{request_id}',
  });
  await expect(readServiceStatus(parts, { polls: false })).resolves.toMatchObject({
    usageUnknown: undefined,
  });
  expect(sandbox.log.bill()).toMatchObject({ credits: '0' });
  await parts.client.close();
  await sandbox.close();
});

it('fetchRateWindows() stores the calls left of each endpoint in the usage statistics', async () => {
  const server = await startScriptedServer((socket) => socket.write(unused));
  const { client } = partsFor(server.baseUrl);
  expect(await fetchRateWindows(warehouse, 'test', client)).toBeUndefined();
  await client.close();
  await server.close();
  const left = ['people/bulk_match', 'people/match', 'webhook_result'].map(
    async (scope) => (await countFreeSlots(warehouse.database, { service: 'test', scope }, [])).slots,
  );
  expect(await Promise.all(left)).toEqual([400, 10, 7]);
});

it('checkRunService() refuses a run before it spends if the service does not accept the credential', async () => {
  const sandbox = await startSandbox();
  const parts = partsFor(sandbox.baseUrl, 'wrong');
  const runId = await runningRun(warehouse);
  const log = createLogger({ level: 'silent', format: 'json' });
  const check = await checkRunService({ ...parts, isDeliveredTo: true, log }, runId);
  expect(check).toMatchObject({
    kind: 'refused',
    pauseReason: {
      type: 'service.credential-refused',
      reason: expect.stringContaining('does not accept the credential'),
      next: expect.stringMatching(
        new RegExp(
          `settings are those of the workers: restart them after a change; then: enrich resume ${runId}$`,
        ),
      ),
    },
  });
  expect(sandbox.log.bill()).toMatchObject({ calls: 0, credits: '0' });
  await parts.client.close();
  await sandbox.close();
});
