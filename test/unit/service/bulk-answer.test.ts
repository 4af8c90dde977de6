import { describe, expect, it } from 'vitest';
import type { BulkAnswer } from '../../../src/service/answers/bulk-answer.ts';
import { ServiceFailure } from '../../../src/service/failures/failure.ts';
import { bulkAnswer } from '../../helpers/servers/test-client.ts';

const person = { id: 'p1', name: 'Mira Lindqvist', email: 'mira@lindqvist.example' };

it('readBulkAnswer() reads a request id exactly, even one that a float cannot hold', () => {
  const answer = bulkAnswer(
    '{"matches":[],"request_id":-7049823749872398471,"credits_consumed":1000.000001,' +
      '"unique_enriched_records":2,"missing_records":1}',
  );
  expect([answer.requestId, answer.creditsConsumed]).toEqual(['-7049823749872398471', 1_000_000_001n]);
  expect([answer.uniqueEnrichedRecords, answer.missingRecords]).toEqual([2, 1]);
});

it('readBulkAnswer() names fields of the wrong type, and marks people with an unreadable employer', () => {
  const answer = bulkAnswer({
    matches: [
      { ...person, organization: 'Orbit' },
      { ...person, title: 5 },
    ],
  });
  expect(answer.matches).toEqual([{ ...person, isPartlyRead: true }, person]);
  expect(answer.unreadFields).toEqual(['organization', 'title']);
});

it('readBulkAnswer() skips only a person of the wrong shape, and names the fault without its value', () => {
  const answer = bulkAnswer({
    matches: [person, { ...person, email: { hidden: 'canary' } }, 'canary', 7, [], person],
  });
  expect(answer.matches.map((match) => match?.id ?? null)).toEqual(['p1', null, null, null, null, 'p1']);
  expect(answer.unreadableMatches.map((match) => match.index)).toEqual([1, 2, 3, 4]);
  expect(answer.unreadableMatches[0]?.reason).toBe('email is no string');
  expect(JSON.stringify(answer.unreadableMatches)).not.toContain('canary');
});

const accounted = { total_requested_enrichments: 3, missing_records: 3, credits_consumed: 0 };

it.each([
  ['matches are null', { ...accounted, matches: null }],
  ['matches are absent', accounted],
  ['matches are null, and no people are counted', { matches: null, credits_consumed: 0 }],
  [
    'matches are null, and only missing people are counted',
    { matches: null, missing_records: 3, credits_consumed: 0 },
  ],
  [
    'matches are null beside a waterfall',
    { matches: null, waterfall: { status: 'accepted' }, credits_consumed: 0 },
  ],
  [
    'matches are absent beside skipped phones',
    { phone_enrichment: { status: 'skipped' }, credits_consumed: 0 },
  ],
])('readBulkAnswer() reads an answer that billed nothing as nobody found: %s', (_, body) => {
  expect(bulkAnswer({ status: 'success', ...body })).toMatchObject({ matches: [], creditsConsumed: 0n });
});

it.each([
  ['something was billed', { ...accounted, credits_consumed: 1 }],
  ['two of three people are counted as missing', { ...accounted, missing_records: 2 }],
  ['nobody is counted as missing', { missing_records: 0, credits_consumed: 0 }],
  ['phones are pending', { phone_enrichment: { status: 'pending' }, credits_consumed: 0 }],
  ['an error has an unknown form', { ...accounted, error_details: 'out of credits' }],
  ['one person is counted as enriched', { unique_enriched_records: 1, credits_consumed: 0 }],
  ['the answer states no price', { total_requested_enrichments: 3, missing_records: 3 }],
])('readBulkAnswer() refuses null for matches where %s', (_, body) => {
  expect(() => bulkAnswer({ matches: null, ...body })).toThrow(ServiceFailure);
});

it('readBulkAnswer() ignores a __proto__ member', () => {
  const answer = bulkAnswer('{"matches":[{"id":"p1","__proto__":{"email":"other@person.example"}}]}');
  expect(answer.matches[0]?.email).toBeUndefined();
  expect(({} as Record<string, unknown>)['email']).toBeUndefined();
});

it('readBulkAnswer() returns the status of phones and waterfall', () => {
  const answer = bulkAnswer({
    matches: [],
    phone_enrichment: { request_id: 5, status: 'skipped' },
    waterfall: { status: 'partial_accepted', message: 'words' },
  });
  expect([answer.phoneEnrichment?.status, answer.waterfall?.status]).toEqual(['skipped', 'partial_accepted']);
});

const stub = {
  id: null,
  first_name: null,
  last_name: '',
  name: ' ',
  organization: { id: 'o', name: 'Orbit' },
};
const locked = { id: 's1', name: null, email: 'email_not_unlocked@domain.com' };
const withoutPeople: [string, unknown][] = [
  ['absent', undefined],
  ['null', null],
  ['[]', []],
  ['{}', {}],
  ['nulls', [null, null, null]],
  ['empty objects', [{}, {}, {}]],
  ['stubs', [null, stub, locked]],
  ['texts', ['OUT_OF_CREDITS', '']],
];
const errors: [string, object, string][] = [
  ['the code OUT_OF_CREDITS', { status: 'success', error_code: 'OUT_OF_CREDITS' }, 'out-of-credits'],
  ['error_details', { error_details: { code: 'BILLING.CREDITS.EXHAUSTED' } }, 'out-of-credits'],
  ['a root-level error', { status: 'success', error: 'words' }, 'refused'],
  ['a code that is a sentence', { error_code: 'You cannot do this' }, 'refused'],
  ['the status failed', { status: 'failed', error_code: null }, 'refused'],
  ['the status Error', { status: 'Error', error_message: 'words' }, 'refused'],
];

describe.each(errors)('with %s', (said, error, type) => {
  it.each(withoutPeople)(`readBulkAnswer() reads ${said} with %s for matches as a refusal`, (_, matches) => {
    for (const credits of [0, '0', undefined]) {
      const failure = attempt({ ...error, matches, credits_consumed: credits });
      expect(failure).toMatchObject({ type, disposition: 'pause', mayHaveBeenBilled: false });
    }
  });
});

it.each([
  ['the status success', { status: 'success', error_code: null, error_message: null }],
  ['no members about errors', {}],
  ['an undocumented status', { status: 'completed_with_misses' }],
  ['only an error message', { status: 'success', error_message: 'three people are unknown' }],
  [
    'empty members about errors',
    { error: '', error_code: 'NONE', error_details: { code: null, suggestions: [] } },
  ],
  ['error: false', { error: false, error_details: {} }],
])('readBulkAnswer() reads an answer about three unknown people with %s', (_, members) => {
  const answer = attempt({ ...members, matches: [null, null, null], credits_consumed: 0 });
  expect(answer).toMatchObject({ matches: [null, null, null], creditsConsumed: 0n });
  expect((answer as BulkAnswer).partial).toBeUndefined();
});

it.each([
  ['people and the status failed', { status: 'failed', matches: [person, null] }, 'refused'],
  [
    'people and the code OUT_OF_CREDITS',
    { matches: [null, person], error_code: 'OUT_OF_CREDITS' },
    'out-of-credits',
  ],
  ['a price and an error', { matches: [null, null], error: 'words', credits_consumed: 1 }, 'refused'],
])('readBulkAnswer() marks an answer with %s as partial', (_, body, type) => {
  expect(bulkAnswer(body).partial).toMatchObject({ type, disposition: 'pause' });
});

it('readBulkAnswer() keeps the original body, and returns the rate windows', () => {
  const text = '{ "matches" : [ ] }';
  const answer = bulkAnswer(text, 200, { 'x-rate-limit-minute': '20' });
  expect(answer.raw.toString()).toBe(text);
  expect(answer.rateLimits).toHaveLength(1);
});

function attempt(body: unknown): BulkAnswer | ServiceFailure {
  try {
    return bulkAnswer(body);
  } catch (error) {
    if (error instanceof ServiceFailure) return error;
    throw error;
  }
}
