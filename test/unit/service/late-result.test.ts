import { describe, expect, it } from 'vitest';
import { readLateResult } from '../../../src/service/answers/late-result.ts';

const read = (body: unknown) =>
  readLateResult(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

const phone = { raw_number: '(555) 010-0123', sanitized_number: '+15550100123', position: 0 };
const asRead = { rawNumber: '(555) 010-0123', sanitizedNumber: '+15550100123', position: 0 };
describe('the body of a native phone reveal', () => {
  const body = {
    status: 'success',
    total_requested_enrichments: 2,
    unique_enriched_records: 1,
    missing_records: 1,
    credits_consumed: 8,
    people: [
      {
        id: 'p1',
        status: 'success',
        phone_numbers: [
          {
            ...phone,
            type_cd: 'mobile',
            status_cd: 'valid_number',
            dnc_status_cd: null,
            confidence_cd: 'high',
          },
        ],
      },
      { id: 'p2', status: 'not_found', phone_numbers: [] },
    ],
  };

  it('a webhook with phones has phones by person, the whole price, and no request id', () => {
    expect(read(body)).toEqual({
      kind: 'phones',
      requestId: undefined,
      people: [
        {
          id: 'p1',
          phones: [
            { ...asRead, type: 'mobile', status: 'valid_number', dncStatus: undefined, confidence: 'high' },
          ],
          emails: [],
          addresses: [],
          fields: ['phone_numbers'],
          isPending: false,
        },
        { id: 'p2', phones: [], emails: [], addresses: [], fields: ['phone_numbers'], isPending: false },
      ],
      unreadablePeople: 0,
      creditsConsumed: 8_000_000n,
      creditsProblem: undefined,
      missing: 1,
      targetFields: [],
    });
  });

  it.each([
    ['pending', true],
    ['in_progress', true],
    ['Processing', true],
    ['accepted', true],
    ['success', false],
    ['pending_manual_fulfillment', true],
    ['unheard of', false],
    [null, false],
    [7, false],
  ])('a webhook with phones of the status %s is still pending: %s', (status, isPending) => {
    const person = { id: 'p1', phone_numbers: [] };
    expect(read({ people: [{ ...person, status }] })?.people[0]?.isPending).toBe(isPending);
    expect(read({ status, people: [person] })?.people[0]?.isPending).toBe(isPending);
  });

  it('a webhook with phones may have the fields of a phone that the interface document describes', () => {
    const documented = { ...phone, type: 'home', status: 'no_status', dnc_status: 'listed' };
    expect(read({ people: [{ id: 'p1', phone_numbers: [documented] }] })?.people[0]?.phones).toEqual([
      { ...asRead, type: 'home', status: 'no_status', dncStatus: 'listed', confidence: undefined },
    ]);
  });
});

it.each([[[{ value: '+15550100123' }]], [[7, null]], [['+15550100123']]])(
  'a delivered person whose phones cannot be read has no result: %j',
  (numbers) =>
    expect(read({ people: [{ id: 'p1', phone_numbers: numbers }] })?.people[0]).toMatchObject({
      phones: [],
      isPending: true,
    }),
);

it('e-mails of a delivered person are read only from a list', () => {
  const person = { id: 'p1', email: 'm@l.example', phone_numbers: [phone] };
  expect(read({ people: [person] })?.people[0]).toMatchObject({
    emails: [],
    addresses: ['m@l.example'],
    fields: ['phone_numbers'],
  });
});

describe('the body of a waterfall', () => {
  const body = (
    requestId: string,
  ) => `{"status":"success","request_id":${requestId},"target_fields":["emails",7],
    "records_enriched":1,"credits_consumed":2.75,"people":[{"id":"w1",
    "emails":[{"email":"m@l.example","email_status_cd":"verified"},{"no":"email"}],
    "waterfall":{"emails":[{"vendors":[{"id":"v","name":"V","status":"success"}]}]}}]}`;

  it.each([
    ['a number', '-9223372036854775807'],
    ['a text', '"-9223372036854775807"'],
  ])('a webhook of a waterfall has the exact request id as %s', (_, id) => {
    expect(read(body(id))?.requestId).toBe('-9223372036854775807');
  });

  it('a webhook of a waterfall has e-mails, its target fields, and a price that may be a fraction', () => {
    expect(read(body('1'))).toMatchObject({
      kind: 'waterfall',
      targetFields: ['emails'],
      creditsConsumed: 2_750_000n,
      people: [{ id: 'w1', phones: [], emails: [{ email: 'm@l.example', status: 'verified' }] }],
    });
  });

  it.each([
    ['target_fields', { target_fields: ['phone_numbers'], people: [] }],
    ['records_enriched', { records_enriched: 0, people: [] }],
    ['a list of addresses', { people: [{ id: 'w1', emails: [] }] }],
    ['what its vendors did', { people: [{ id: 'w1', waterfall: {} }] }],
  ])('a webhook of a waterfall is recognised by %s alone', (_, minimal) => {
    expect(read(minimal)?.kind).toBe('waterfall');
  });
});

it.each([
  ['absent', {}],
  ['unreadable', { credits_consumed: -1 }],
  ['unreadable', { credits_consumed: 'eight' }],
])('a webhook whose price is %s has no price', (creditsProblem, price) => {
  expect(read({ ...price, people: [] })).toMatchObject({ creditsConsumed: undefined, creditsProblem });
});

it('a webhook is read without its unreadable people, and counts them', () => {
  const late = read({ people: ['nobody', null, { id: 'p7', phone_numbers: [phone] }] });
  expect([late?.unreadablePeople, late?.people.map((person) => person.id)]).toEqual([2, ['p7']]);
});

it.each([
  ['nothing', ''],
  ['no JSON', '<html>'],
  ['no list of people', { people: {} }],
  ['an empty list', []],
  ['a list of people', [{ id: 'p1', phone_numbers: [phone] }]],
  ['an envelope with a body', { data: { people: [{ id: 'p1', phone_numbers: [phone] }] } }],
  ['one person', { person: { id: 'p1', phone_numbers: [phone] } }],
  ['the matches of an answer', { matches: [{ id: 'p1' }] }],
])('a webhook that is %s is not a late result', (_, other) => {
  expect(read(other)).toBeUndefined();
});
