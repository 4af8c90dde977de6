import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type ServiceFailure } from '../../../src/service/failures/failure.ts';
import { mapFailure, mapTransportError } from '../../../src/service/failures/map-failure.ts';
import { TransportError, type Headers } from '../../../src/service/transport.ts';
import { readAnswer, verdictOf } from '../../helpers/servers/test-client.ts';
import cases from '../../data/service/map-failure.json' with { type: 'json' };

const paid = { name: 'POST /people/bulk_match', paid: true };
const free = { name: 'GET /auth/health', paid: false };

function map(status: number, body: unknown, headers: Headers = {}): ServiceFailure {
  return mapFailure(readAnswer(body, status, headers), paid);
}

/** The same error in three shapes: root-level fields, `error_details`, and both. */
function shapes(code: string | undefined): [string, unknown][] {
  const older = {
    error: 'words that change',
    message: 'words',
    ...(code !== undefined && { error_code: code }),
  };
  const newer = { error_details: { code: code ?? 'REQUEST.STATE.OTHER', message: 'words', suggestions: [] } };
  return [
    ['root-level fields', older],
    ['root-level fields and error_details', { ...older, ...newer }],
    ['error_details alone', newer],
  ];
}

const table: [number, string | undefined, string, string][] = [
  [400, 'INVALID_REQUEST', 'validation', 'reject'],
  [400, 'RECORD_LIMIT_EXCEEDED', 'record-limit', 'reject'],
  [400, 'PEOPLE.VALIDATION.RECORD_LIMIT_EXCEEDED', 'record-limit', 'reject'],
  [401, 'INVALID_ACCESS_TOKEN', 'unauthorized', 'pause'],
  [401, 'AUTH.AUTHENTICATION.CREDENTIALS_MISSING', 'unauthorized', 'pause'],
  [402, undefined, 'out-of-credits', 'pause'],
  [403, 'API_INACCESSIBLE', 'forbidden', 'pause'],
  [403, 'BILLING.CREDITS.EXHAUSTED', 'out-of-credits', 'pause'],
  [422, 'INSUFFICIENT_CREDITS', 'out-of-credits', 'pause'],
  [404, undefined, 'not-found', 'pause'],
  [405, undefined, 'refused', 'pause'],
  [413, undefined, 'validation', 'reject'],
  [422, undefined, 'validation', 'reject'],
  [429, undefined, 'rate-limited', 'wait'],
  [200, undefined, 'refused', 'pause'],
  [200, 'RECORD_LIMIT_EXCEEDED', 'record-limit', 'reject'],
  [200, 'OUT_OF_CREDITS', 'out-of-credits', 'pause'],
];

describe.each(table)(
  'the service error %d with code %s is mapped to %s',
  (status, code, type, disposition) => {
    it.each(shapes(code))('mapFailure() reads the error code from %s', (_, body) => {
      expect(verdictOf(map(status, body))).toEqual([type, disposition, false]);
    });
  },
);

it.each([500, 502, 503, 504, 599])(
  'mapFailure() treats %d as possibly billed, whatever the body',
  (status) => {
    const failure = map(status, { error_code: 'OUT_OF_CREDITS' });
    expect(verdictOf(failure)).toEqual(['server-error', 'unknown', true]);
  },
);

it.each(cases.billed as [number, object, string, string][])(
  'mapFailure() treats %d with the body %o as possibly billed',
  (status, body, type, disposition) => {
    const failure = map(status, body);
    expect(verdictOf(failure)).toEqual([type, disposition, true]);
    expect(failure.message).toContain('the body has people or credits)');
    expect(failure.next?.includes('enrich attempts')).toBe(disposition === 'unknown');
  },
);

it.each(cases.redirects as [number, boolean][])(
  'mapFailure() pauses at the redirect %d, possibly billed: %s',
  (status, billed) => {
    const failure = map(status, '');
    expect(verdictOf(failure)).toEqual(['redirected', 'pause', billed]);
    expect(failure.message.includes('303 leads to the result of a call')).toBe(billed);
  },
);

it.each([
  { credits_consumed: 0 },
  { credits_consumed: '0.00', matches: [null, { id: 'p1' }] },
  { matches: null },
])('mapFailure() reads a 422 with the body %o as not billed', (body) => {
  expect([map(422, body).disposition, map(422, body).mayHaveBeenBilled]).toEqual(['reject', false]);
});

it.each(cases.twoCodes as [number, string, string, string][])(
  'mapFailure() uses both error shapes of a %d: %s at the root and %s in error_details',
  (status, older, newer, type) => {
    const failure = map(status, { error_code: older, error_details: { code: newer } });
    expect([failure.type, failure.codes]).toEqual([type, [newer, older]]);
  },
);

it.each([{ toString: 1 }, [1], true])(
  'mapFailure() takes credits of %o as a possible bill, despite the code OUT_OF_CREDITS',
  (credits) => {
    const failure = map(200, { error_code: 'OUT_OF_CREDITS', credits_consumed: credits, matches: 'none' });
    expect(failure.type).toBe('unreadable-answer');
  },
);

it('mapFailure() reads the wait after a 429 from retry_after_seconds in its suggestions', () => {
  const failure = map(429, {
    error_details: {
      code: 'RATE_LIMIT.WINDOW.EXCEEDED',
      suggestions: [
        { label: 'Wait', retry_after_seconds: 90, header: 'retry-after' },
        'no object',
        { url: 'x' },
      ],
    },
  });
  expect(failure.retryAfterSeconds).toBe(90);
});

it('mapFailure() returns the rate windows of a refusal', () => {
  const failure = map(429, {}, { 'x-rate-limit-hourly': '600', 'x-hourly-requests-left': '0' });
  expect(failure.rateLimits).toMatchObject([{ window: 'hour', limit: 600, left: 0 }]);
});

it('the message of a failure leaves out codes and request ids that may quote the request', () => {
  const failure = map(422, {
    error_code: 'Mira.Lindqvist',
    error_details: { code: 'PEOPLE.EMAIL.INVALID' },
    request_id: 'mira-7',
  });
  expect(failure.explain()).not.toMatch(/mira|lindqvist/i);
  expect(failure.message).toContain('(HTTP 422, PEOPLE.EMAIL.INVALID)');
});

const canaries = ['canary-key-5f2c', 'canary@person.example', '+15550100'];
const body = {
  error: canaries.join(' '),
  message: canaries.join(' '),
  error_code: `BAD ${canaries[1]}`,
  request_id: canaries[1],
  error_details: {
    code: `A.B ${canaries[1]}`,
    message: canaries.join(' '),
    suggestions: [{ label: canaries.join(' '), example: canaries[2] }],
    context: { window: { value: canaries[1] }, sent: { value: canaries.join(' ') } },
  },
};
const echoed = map(422, body, { 'x-echo': canaries.join(' ') });

it.each([
  ['inspect', (error: ServiceFailure) => inspect(error, { depth: 9, showHidden: true, getters: true })],
  ['JSON', (error: ServiceFailure) => JSON.stringify(error)],
  ['its message and stack', (error: ServiceFailure) => `${error.message} ${error.stack} ${error.explain()}`],
  ['its properties', (error: ServiceFailure) => JSON.stringify(Object.getOwnPropertyDescriptors(error))],
])('a failure printed by %s shows nothing that the service wrote', (_, print) => {
  for (const canary of canaries) expect(print(echoed)).not.toContain(canary);
});

it.each(cases.beforeSending)(
  'before a request is sent, mapTransportError() maps %s to the failure %s, not billed',
  (code, type) => {
    const failure = mapTransportError(new TransportError(code, { sent: false }), paid);
    expect(verdictOf(failure)).toEqual([type, 'retry', false]);
  },
);

it.each(cases.afterSending)(
  'after a request was sent, mapTransportError() maps %s to the failure %s, possibly billed',
  (code, type) => {
    const failure = mapTransportError(new TransportError(code, { sent: true }), paid);
    expect(verdictOf(failure)).toEqual([type, 'unknown', true]);
  },
);

it('mapTransportError() allows a retry of a free call that was already sent', () => {
  const failure = mapTransportError(new TransportError('ECONNRESET', { sent: true }), free);
  expect([failure.disposition, failure.mayHaveBeenBilled]).toEqual(['retry', false]);
});
