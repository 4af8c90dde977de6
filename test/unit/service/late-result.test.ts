import { expect, it } from 'vitest';
import { readLateResult } from '../../../src/service/answers/late-result.ts';

const read = (body: unknown) =>
  readLateResult(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

const phone = { raw_number: '(555) 010-0123', sanitized_number: '+15550100123', position: 0 };
const asRead = { rawNumber: '(555) 010-0123', sanitizedNumber: '+15550100123', position: 0 };

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

it('readLateResult() reads phones by person and the whole price from a webhook without a request id', () => {
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

it('a webhook with phones may use the field names of the interface document: type, status, dnc_status', () => {
  const documented = { ...phone, type: 'home', status: 'no_status', dnc_status: 'listed' };
  expect(read({ people: [{ id: 'p1', phone_numbers: [documented] }] })?.people[0]?.phones).toEqual([
    { ...asRead, type: 'home', status: 'no_status', dncStatus: 'listed', confidence: undefined },
  ]);
});

it.each([[[{ value: '+15550100123' }]], [[7, null]], [['+15550100123']]])(
  'a delivered person with unreadable phones stays pending: %j',
  (numbers) =>
    expect(read({ people: [{ id: 'p1', phone_numbers: numbers }] })?.people[0]).toMatchObject({
      phones: [],
      isPending: true,
    }),
);

it('the member email of a delivered person is not a delivered e-mail, only the list emails is', () => {
  const person = { id: 'p1', email: 'm@l.example', phone_numbers: [phone] };
  expect(read({ people: [person] })?.people[0]).toMatchObject({
    emails: [],
    addresses: ['m@l.example'],
    fields: ['phone_numbers'],
  });
});

const waterfallBody = (
  requestId: string,
) => `{"status":"success","request_id":${requestId},"target_fields":["emails",7],
  "records_enriched":1,"credits_consumed":2.75,"people":[{"id":"w1",
  "emails":[{"email":"m@l.example","email_status_cd":"verified"},{"no":"email"}],
  "waterfall":{"emails":[{"vendors":[{"id":"v","name":"V","status":"success"}]}]}}]}`;

it.each([
  ['a number', '-9223372036854775807'],
  ['a text', '"-9223372036854775807"'],
])('the request id of a waterfall webhook is read exactly from %s', (_, id) => {
  expect(read(waterfallBody(id))?.requestId).toBe('-9223372036854775807');
});

it('a webhook of a waterfall has e-mails, its target fields, and a price that may be a fraction', () => {
  expect(read(waterfallBody('1'))).toMatchObject({
    kind: 'waterfall',
    targetFields: ['emails'],
    creditsConsumed: 2_750_000n,
    people: [{ id: 'w1', phones: [], emails: [{ email: 'm@l.example', status: 'verified' }] }],
  });
});

it.each([
  ['target_fields', { target_fields: ['phone_numbers'], people: [] }],
  ['records_enriched', { records_enriched: 0, people: [] }],
  ['a list of e-mails', { people: [{ id: 'w1', emails: [] }] }],
  ['a member with the results of vendors', { people: [{ id: 'w1', waterfall: {} }] }],
])('a webhook of a waterfall is recognised by %s alone', (_, minimal) => {
  expect(read(minimal)?.kind).toBe('waterfall');
});

it.each([
  ['absent', {}],
  ['unreadable', { credits_consumed: -1 }],
  ['unreadable', { credits_consumed: 'eight' }],
])('a webhook whose price is %s has no price', (creditsProblem, price) => {
  expect(read({ ...price, people: [] })).toMatchObject({ creditsConsumed: undefined, creditsProblem });
});

it('readLateResult() skips the unreadable people of a webhook and counts them', () => {
  const late = read({ people: ['nobody', null, { id: 'p7', phone_numbers: [phone] }] });
  expect([late?.unreadablePeople, late?.people.map((person) => person.id)]).toEqual([2, ['p7']]);
});

it.each([
  ['empty', ''],
  ['a page of HTML', '<html>'],
  ['an object with people that are not a list', { people: {} }],
  ['an empty list', []],
  ['a list of people', [{ id: 'p1', phone_numbers: [phone] }]],
  ['a late result inside a member data', { data: { people: [{ id: 'p1', phone_numbers: [phone] }] } }],
  ['a single person without a list', { person: { id: 'p1', phone_numbers: [phone] } }],
  ['an answer with matches', { matches: [{ id: 'p1' }] }],
])('a webhook that is %s is not a late result', (_, other) => {
  expect(read(other)).toBeUndefined();
});
