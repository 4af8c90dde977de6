import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readApiUsage,
  readCreditUsage,
  readHealth,
  readProfile,
} from '../../src/service/answers/account-answers.ts';
import { readBulkAnswer, readMatchAnswer } from '../../src/service/answers/bulk-answer.ts';
import { failureKinds, ServiceFailure, type Endpoint } from '../../src/service/failures/failure.ts';
import { readLateResult, readPollAnswer } from '../../src/service/answers/late-result.ts';
import { mapFailure, mapTransportError } from '../../src/service/failures/map-failure.ts';
import { TransportError, type Headers, type HttpAnswer } from '../../src/service/transport.ts';
import { bulkAnswer, readAnswer } from '../helpers/servers/test-client.ts';

/** The suite draws few cases; `npm run property:answers` draws more. */
const numRuns = Number(process.env['ANSWER_CASES'] ?? 60);

/** Tests with any bytes that a service, a proxy or an attacker may send in place of an answer. */

const endpoint: Endpoint = { name: 'POST /people/bulk_match', paid: true };

const readers: Readonly<Record<string, (answer: HttpAnswer, endpoint: Endpoint) => unknown>> = {
  bulk: readBulkAnswer,
  match: readMatchAnswer,
  poll: readPollAnswer,
  health: readHealth,
  profile: readProfile,
  'api usage': readApiUsage,
  'credit usage': readCreditUsage,
};

/**
 * Names of members that the parsers look for, so that random answers get past the first checks, and names that every
 * JavaScript object has.
 */
const names = `request_id credits_consumed matches person people organization
  error error_code error_details code suggestions label context window value retry_after_seconds
  status waterfall phone_enrichment webhook_result webhook_status id name email emails phone_numbers position
  employment_history contact account credit_usage_stats current_credit_cycle limit consumed left_over minute hour day
  unique_enriched_records missing_records total_requested_enrichments target_fields is_logged_in healthy
  ["api/v1/people","bulk_match"] __proto__ constructor toString valueOf`.split(/\s+/);

/** Draws numbers as text: numbers that fit into a double, and numbers that JSON allows and a double cannot hold. */
const numberText = fc.oneof(
  fc.bigInt().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '-0',
    '1e999',
    '-1e999',
    '0.1',
    '1E-400',
    '9223372036854775807',
    '0.10000000000000000000001',
  ),
);
const stringText = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u0000', '\ud800', '2026-13-45', 'INVALID_ACCESS_TOKEN', 'A.B.OUT_OF_CREDITS', '1e5'),
    fc.bigInt().map(String),
  )
  .map((value) => JSON.stringify(value));

/** Draws JSON as text, because JSON.stringify could not write half of the numbers. */
const { json } = fc.letrec<{ json: string; object: string; list: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'json' },
    fc.oneof(fc.constantFrom('null', 'true', 'false'), numberText, stringText),
    tie('object'),
    tie('list'),
  ),
  object: fc
    .array(fc.tuple(fc.oneof(fc.constantFrom(...names), fc.string()), tie('json')), { maxLength: 8 })
    .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(',')}}`),
  list: fc.array(tie('json'), { maxLength: 4 }).map((elements) => `[${elements.join(' , ')}]`),
}));

/** Draws an object with the members that the readers of answers, polls, deliveries and errors need first. */
const envelope = fc
  .tuple(fc.constantFrom('matches', 'person', 'people', 'webhook_result', 'error_details'), json, json, json)
  .map(
    ([name, value, id, credits]) =>
      `{"request_id":${id},"${name}":[${value},{"id":"p1"}],"credits_consumed":${credits}}`,
  );
const bytes = fc.oneof(
  envelope.map((text) => Buffer.from(text)),
  json.map((text) => Buffer.from(text)),
  json.map((text) => Buffer.from(JSON.stringify(text))),
  // JSON that is cut off anywhere, also in the middle of a character.
  fc.tuple(json, fc.nat(200)).map(([text, end]) => Buffer.from(text).subarray(0, end)),
  fc.uint8Array({ maxLength: 100 }).map((array) => Buffer.from(array)),
);
const headerName = fc.constantFrom(
  ...'retry-after date content-type __proto__ x-rate-limit-hourly x-hourly-usage x-hourly-requests-left'.split(
    ' ',
  ),
  ...'x-rate-limit-minute x-24-hour-usage x-daily-requests-left'.split(' '),
);
const headerValue = fc.oneof(
  fc.string(),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.nat().map(String),
  fc.constantFrom(
    '',
    ' ',
    '-5',
    '1e9',
    '99999999999999999999',
    'Sat, 99 Nov 2026 99:00:00 GMT',
    'NaN',
    'Infinity',
  ),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
);
const headers: fc.Arbitrary<Headers> = fc.dictionary(headerName, headerValue);
const status = fc.oneof(
  fc.constantFrom(200, 400, 401, 403, 404, 422, 429, 500),
  fc.integer({ min: 200, max: 599 }),
);
const answers: fc.Arbitrary<HttpAnswer> = fc.record({
  status,
  headers,
  body: bytes,
  receivedAt: fc.nat({ max: 4e12 }),
});

/**
 * Returns the faults of a value that a reader returned: NaN, negative credits, or a request id that is not its exact
 * text.
 */
function flawsOf(value: unknown, name = ''): string[] {
  if (Number.isNaN(value)) return [`${name} is NaN`];
  if (typeof value === 'bigint' && value < 0n) return [`${name} is negative`];
  if (name === 'requestId' && value !== undefined && !isRequestId(value)) return [`${name} is no id`];
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return [];
  const flaws = value instanceof ServiceFailure ? flawsOfFailure(value) : [];
  if ('creditsProblem' in value && 'creditsConsumed' in value)
    if ((value.creditsProblem === undefined) === (value.creditsConsumed === undefined))
      flaws.push('credits and a problem with them, or neither');
  return [...flaws, ...Object.entries(value).flatMap(([key, member]) => flawsOf(member, key))];
}

function isRequestId(value: unknown): boolean {
  return typeof value === 'string' && /^[\w.:-]{1,100}$/.test(value);
}

function flawsOfFailure(failure: ServiceFailure): string[] {
  const { type, message, retryAfterSeconds: seconds = 0, disposition, httpStatus = 0 } = failure;
  const rules: Readonly<Record<string, boolean>> = {
    'is of a known type': type in failureKinds,
    'has a short message': message.length < 500,
    'waits for whole seconds, at most a day': Number.isInteger(seconds) && seconds >= 0 && seconds <= 86_400,
    'is billed, perhaps, after a server error': httpStatus < 500 || failure.mayHaveBeenBilled,
    'is billed, perhaps, where nothing is known': disposition !== 'unknown' || failure.mayHaveBeenBilled,
  };
  return Object.entries(rules).flatMap(([rule, kept]) => (kept ? [] : [`not so: ${rule}`]));
}

/** Returns what a reader returns, or the ServiceFailure that it throws. Any other exception is a fault. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof ServiceFailure) return error;
    throw error;
  }
}

describe.each(Object.entries(readers))('the reader of %s', (_, read) => {
  it('for any answer, a reader returns valid data or throws a ServiceFailure', () => {
    fc.assert(
      fc.property(answers, (answer) => {
        expect(flawsOf(outcomeOf(() => read(answer, endpoint)))).toEqual([]);
      }),
      { numRuns },
    );
  });

  it('no reader reads an error of the service as a successful answer', () => {
    const refusals = answers.filter((answer) => answer.status >= 300);
    fc.assert(
      fc.property(refusals, (answer) => {
        const outcome = outcomeOf(() => read(answer, endpoint));
        // Only the reader of polls may return a state, because an error answer can have the state of a request.
        const isState = read === readPollAnswer && !(outcome instanceof ServiceFailure);
        expect(outcome).toBeInstanceOf(isState ? Object : ServiceFailure);
      }),
    );
  });
});

it('mapFailure() maps every error of the service to a valid failure', () => {
  fc.assert(
    fc.property(answers, (answer) => {
      expect(flawsOf(mapFailure(answer, endpoint))).toEqual([]);
    }),
    { numRuns },
  );
});

it('mapFailure() does not depend on the messages of an error', () => {
  // An error such as " " or "0" means that there is no error.
  const words = fc.record({ error: fc.string().map((text) => `error ${text}`), message: fc.string() });
  fc.assert(
    fc.property(status, words, words, (code, one, other) => {
      const typeOf = (body: object) => mapFailure(readAnswer(body, code), endpoint).type;
      expect(typeOf(one)).toBe(typeOf(other));
    }),
  );
});

it('every broken connection is mapped to a failure, which is possibly billed if the call was sent', () => {
  fc.assert(
    fc.property(fc.string(), fc.boolean(), (code, sent) => {
      const failure = mapTransportError(new TransportError(code, { sent }), endpoint);
      expect([flawsOf(failure), failure.mayHaveBeenBilled]).toEqual([[], sent]);
    }),
  );
});

const exactId = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const millionths = fc.bigInt({ min: 0n, max: 10n ** 15n });
const decimal = (value: bigint) => `${value / 1_000_000n}.${String(value % 1_000_000n).padStart(6, '0')}`;

/** Draws members beside the request id and the credits, with other names. */
const others = fc
  .array(
    fc.tuple(
      fc.string().filter((name) => !names.includes(name)),
      json,
    ),
    { maxLength: 4 },
  )
  .map((members) => members.map(([name, value]) => `${JSON.stringify(name)}:${value},`).join(''));

it('request id and credits of a bulk answer are read exactly, whatever else is in the answer', () => {
  fc.assert(
    fc.property(exactId, millionths, others, others, (id, credits, before, after) => {
      const answer = bulkAnswer(
        `{${before}"request_id": ${id} ,${after}"credits_consumed":${decimal(credits)},"matches":[null]}`,
      );
      expect([answer.requestId, answer.creditsConsumed]).toEqual([String(id), credits]);
    }),
  );
});

it('request id and credits of a poll answer stay exact in the delivery that is made of the answer', () => {
  fc.assert(
    fc.property(exactId, millionths, others, (id, credits, before) => {
      const delivery = `{${before}"request_id":${id},"credits_consumed":${decimal(credits)},"people":[]}`;
      const body = `{"webhook_status":"failed","webhook_result": ${delivery} }`;
      const poll = readPollAnswer(readAnswer(body), endpoint);
      const late = poll.state === 'result' ? readLateResult(poll.body) : undefined;
      expect([late?.requestId, late?.creditsConsumed]).toEqual([String(id), credits]);
    }),
  );
});

it('for any webhook body, readLateResult() returns valid data or undefined', () => {
  fc.assert(
    fc.property(bytes, (body) => {
      const late = readLateResult(body);
      expect(flawsOf(late)).toEqual([]);
      expect(late?.creditsConsumed === undefined).toBe(
        late === undefined || late.creditsProblem !== undefined,
      );
    }),
    { numRuns },
  );
});
