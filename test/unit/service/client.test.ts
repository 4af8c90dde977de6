import { expect, it } from 'vitest';
import { createServiceClient, type ServiceClient } from '../../../src/service/client.ts';
import type { HttpRequest, Transport } from '../../../src/service/transport.ts';
import { testClient, readAnswer } from '../../helpers/servers/test-client.ts';
import cases from '../../data/service/client.json' with { type: 'json' };

const mira = { firstName: 'Mira', lastName: 'Lindqvist', email: 'mira+crm@lindqvist.example' };

/** A transport that sends nothing: it records each request and returns the given answer. */
function carrying(body: unknown, status = 200): { transport: Transport; sent: HttpRequest[] } {
  const sent: HttpRequest[] = [];
  const transport: Transport = {
    send: async (request) => {
      sent.push(request);
      return readAnswer(body, status);
    },
    close: () => Promise.resolve(),
  };
  return { transport, sent };
}

const clientOf = (transport: Transport): ServiceClient => testClient({ transport });

/** Method, path and query of the only request. */
function line([request]: HttpRequest[]): string {
  return `${request?.method} ${request?.url.pathname}${request?.url.search}`;
}

const nobody = { matches: [null] };

it.each([
  ['key', 'x-api-key', 'authorization', { kind: 'api-key', value: 'a.1' }, 'a.1'],
  ['access token', 'authorization', 'x-api-key', { kind: 'access-token', value: 'a.1' }, 'Bearer a.1'],
] as const)('an %s is sent in the header %s, and not in %s', async (_, header, other, credential, value) => {
  const { transport, sent } = carrying(nobody);
  await testClient({ transport, credential }).bulkMatch({ details: [mira] });
  expect(sent[0]?.headers).toMatchObject({ [header]: value });
  expect(sent[0]?.headers).not.toHaveProperty(other);
});

it('missing credentials cause an error before a call is sent', () => {
  const settings = {
    baseUrl: 'https://x.example/api/v1',
    callTimeoutSeconds: 1,
    pollPath: '/{request_id}',
  };
  expect(() => createServiceClient({ ...settings, credential: undefined })).toThrow(
    'the credential for the service is missing',
  );
});

it('credentials that an HTTP header cannot contain are refused without being quoted', () => {
  const { transport } = carrying(nobody);
  const credential = { kind: 'api-key', value: 'canary\nline' } as const;
  expect(() => testClient({ transport, credential })).toThrow(/^the credential has characters/);
});

it('bulkMatch() sends people in the body, and no query without reveals or waterfalls', async () => {
  const { transport, sent } = carrying({ matches: [null] });
  await clientOf(transport).bulkMatch({ details: [mira] });
  expect(line(sent)).toBe('POST /api/v1/people/bulk_match');
  expect(JSON.parse(sent[0]?.body ?? '')).toEqual({
    details: [{ first_name: 'Mira', last_name: 'Lindqvist', email: 'mira+crm@lindqvist.example' }],
  });
  expect(sent[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
});

it('bulkMatch() sends reveals, waterfalls and the encoded webhook URL in the query', async () => {
  const { transport, sent } = carrying({ matches: [null] });
  await clientOf(transport).bulkMatch({
    details: [mira],
    reveal: ['email', 'phone'],
    waterfall: ['email', 'phone'],
    webhookUrl: 'https://hook.example/d/tøken?a=1&b=2',
  });
  expect(Object.fromEntries(sent[0]!.url.searchParams)).toEqual({
    reveal_personal_emails: 'true',
    reveal_phone_number: 'true',
    run_waterfall_email: 'true',
    run_waterfall_phone: 'true',
    webhook_url: 'https://hook.example/d/tøken?a=1&b=2',
  });
  expect(sent[0]!.url.search).toContain(
    'webhook_url=https%3A%2F%2Fhook.example%2Fd%2Ft%C3%B8ken%3Fa%3D1%26b%3D2',
  );
});

it.each([{ reveal: ['phone'] as const }, { waterfall: ['email'] as const }])(
  'bulkMatch() sends nothing if a required webhook URL is missing: %o',
  async (extras) => {
    const { transport, sent } = carrying({ matches: [null] });
    await expect(clientOf(transport).bulkMatch({ details: [mira], ...extras })).rejects.toMatchObject({
      type: 'service.no-webhook-url',
    });
    expect(sent).toEqual([]);
  },
);

it('match() sends the person in the query, without a body', async () => {
  const { transport, sent } = carrying({ person: null });
  await clientOf(transport).match({
    person: { name: 'Åsa Berg', email: mira.email, domain: 'nordlys.example' },
  });
  expect(line(sent)).toBe(
    'POST /api/v1/people/match?name=%C3%85sa%20Berg&email=mira%2Bcrm%40lindqvist.example&domain=nordlys.example',
  );
  expect(sent[0]?.body).toBeUndefined();
  expect(sent[0]?.headers).not.toHaveProperty('content-type');
});

it('match() reads the person and the exact request id', async () => {
  const { transport } = carrying(
    '{"person":{"id":"p1","contact":{"email":"m@l.example"}},"request_id":-9223372036854775807,' +
      '"waterfall":{"status":"accepted"}}',
  );
  expect(await clientOf(transport).match({ person: mira })).toMatchObject({
    person: { id: 'p1', contact: { email: 'm@l.example' } },
    requestId: '-9223372036854775807',
    waterfall: { status: 'accepted' },
  });
});

const poll = (body: unknown, status?: number) => clientOf(carrying(body, status).transport).poll('-7049');

it.each(cases.pending)(
  'poll() returns pending after a 404 with the code result_pending: %o',
  async (body) => {
    expect(await poll(body, 404)).toMatchObject({ state: 'pending', retryAfterSeconds: 30 });
  },
);

it('poll() returns the result with its exact id, even if the service failed to deliver the webhook', async () => {
  const delivery = '{ "request_id": -9223372036854775807, "credits_consumed": 0.10 }';
  const body = Buffer.from('{"request_id":"-9223372036854775807","credits_consumed":0.1}');
  const answer = await poll(`{"webhook_status":"failed","webhook_result": ${delivery} }`);
  expect(answer).toMatchObject({ state: 'result', body, deliveryStatus: 'failed' });
});

it('poll() returns no-result if the request failed and has no result', async () => {
  expect(
    await poll({ webhook_status: 'failed', failure_reason: 'no_url', webhook_result: null }),
  ).toMatchObject({
    state: 'no-result',
    deliveryStatus: 'failed',
  });
});

it.each([
  [404, 'request_id_unknown'],
  [410, 'request_id_expired'],
  [400, 'invalid_request_id'],
])('poll() returns gone after HTTP %d with the code %s', async (status, code) => {
  expect(await poll({ error_code: code }, status)).toMatchObject({ state: 'gone', code });
});

it.each([{}, { error_details: { code: 'WEBHOOK.RESULT.REMOVED' } }])(
  'poll() returns gone after HTTP 410 with the body %j',
  async (body) => {
    expect(await poll(body, 410)).toMatchObject({ state: 'gone', code: 'request_id_expired' });
  },
);

it.each([
  [401, 'pause'],
  [404, 'pause'],
  [429, 'wait'],
  [502, 'retry'],
])(
  'poll() throws after HTTP %d without an error code, because the state of the request stays unknown',
  async (status, disposition) => {
    await expect(poll('words', status)).rejects.toMatchObject({ disposition, mayHaveBeenBilled: false });
  },
);

it.each(cases.health as [object | string, boolean][])(
  'health() reads %o: the credential works: %s',
  async (body, credentialWorks) => {
    expect(await clientOf(carrying(body).transport).health()).toEqual({ credentialWorks });
  },
);

it('profile() reads the user of the credentials', async () => {
  const { transport, sent } = carrying({ id: 'u1', first_name: 'Ada', last_name: 'Holm', team: {} });
  expect(await clientOf(transport).profile()).toEqual({ id: 'u1', name: 'Ada Holm', email: undefined });
  expect(line(sent)).toBe('GET /api/v1/users/api_profile');
});

it('apiUsage() reads the rate windows of each operation', async () => {
  const { transport } = carrying({
    '["api/v1/people", "bulk_match"]': {
      minute: { limit: 20, consumed: 3, left_over: 17 },
      hour: { limit: null, consumed: 3, left_over: null },
    },
    'not a list': { minute: {} },
    '["api/v1/people", "match"]': 'not an object',
  });
  expect(await clientOf(transport).apiUsage()).toEqual([
    {
      path: 'api/v1/people',
      action: 'bulk_match',
      windows: [
        { window: 'minute', seconds: 60, limit: 20, used: 3, left: 17 },
        { window: 'hour', seconds: 3_600, limit: null, used: 3, left: null },
      ],
    },
  ]);
});

it('creditUsage() reads credits as exact decimals', async () => {
  const { transport } = carrying(
    '{"credit_usage_stats":{"email":{"limit":10000000000000.1,"consumed":0.3,"left_over":null}},' +
      '"current_credit_cycle":{"start_date":"2026-11-01","end_date":"2026-11-30"}}',
  );
  expect(await clientOf(transport).creditUsage()).toEqual({
    kinds: [{ name: 'email', limit: 10_000_000_000_000_100_000n, consumed: 300_000n, left: undefined }],
    cycle: { startDate: '2026-11-01', endDate: '2026-11-30' },
  });
});
