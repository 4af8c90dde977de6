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

  it('the body of a native phone reveal has phones by person, the whole price, and no request id', () => {
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
  ])('the body of a phone reveal with the status %s is still awaited: %s', (status, isPending) => {
    const person = { id: 'p1', phone_numbers: [] };
    expect(read({ people: [{ ...person, status }] })?.people[0]?.isPending).toBe(isPending);
    expect(read({ status, people: [person] })?.people[0]?.isPending).toBe(isPending);
  });

  it('the body of a native phone reveal may name the fields of a phone as the interface document does', () => {
    const documented = { ...phone, type: 'home', status: 'no_status', dnc_status: 'listed' };
    expect(read({ people: [{ id: 'p1', phone_numbers: [documented] }] })?.people[0]?.phones).toEqual([
      { ...asRead, type: 'home', status: 'no_status', dncStatus: 'listed', confidence: undefined },
    ]);
  });

  it('the body of a native phone reveal keeps a phone whose other fields are of other types', () => {
    const odd = { ...phone, position: 'first', type_cd: 7, status_cd: {} };
    expect(
      read({ people: [{ id: 'p1', phone_numbers: [odd, 'no phone', null] }] })?.people[0]?.phones,
    ).toMatchObject([
      { sanitizedNumber: '+15550100123', position: undefined, type: undefined, status: undefined },
    ]);
  });
});

describe('phones of a delivered person', () => {
  const [number] = ['+15550100123'];
  const reading = (person: object) => read({ people: [{ id: 'p1', ...person }] })?.people[0];

  it.each([
    ['texts', { phone_numbers: [number] }],
    ['the list of the contact', { contact: { phone_numbers: [phone] } }],
    [
      'the list of the contact beside an empty one',
      { phone_numbers: [], contact: { phone_numbers: [phone] } },
    ],
    ['a single number', { sanitized_phone: number }],
    ['a single number of the contact', { contact: { sanitized_phone: number } }],
    ['a JSON number of the entry', { phone_numbers: [{ sanitized_number: 15550100123 }] }],
    ['a single JSON number', { sanitized_phone: 15550100123 }],
  ])('phones of a delivered person are read from %s', (_, person) => {
    const { phones, fields, isPending } = reading(person)!;
    expect(phones.map(({ rawNumber, sanitizedNumber }) => sanitizedNumber ?? rawNumber)).toEqual([number]);
    expect({ fields, isPending }).toEqual({ fields: ['phone_numbers'], isPending: false });
  });

  it('phones of a delivered person can be JSON numbers as they were written', () => {
    const { phones } = reading({ phone_numbers: [15550100123, { raw_number: 5550100124 }] })!;
    expect(phones.map(({ rawNumber }) => rawNumber)).toEqual(['15550100123', '5550100124']);
  });

  it.each([[[{ value: number }]], [[7, null]]])(
    'phones of a delivered person of which none can be read are no result: %j',
    (numbers) => expect(reading({ phone_numbers: numbers })).toMatchObject({ phones: [], isPending: true }),
  );
});

describe('people of a body', () => {
  const person = { id: 'p1', phone_numbers: [phone] };

  it.each<[string, object]>([
    ['the list of a bulk answer', { matches: [person] }],
    ['the person of a single answer', { person }],
    ['the body itself', { request_id: 7, ...person }],
    ['a list of people', [person]],
    ['a list of bodies', [{ people: [person] }]],
    ['a saved contact, whose own id is another', { people: [{ ...person, id: 'c1', person_id: 'p1' }] }],
    [
      'a saved contact beside the id of the delivery',
      { id: 'd1', contact: { id: 'c1', person_id: 'p1', phone_numbers: [phone] } },
    ],
    ['the contact of a person', { people: [{ contact: { person_id: 'p1', phone_numbers: [phone] } }] }],
    ['an envelope with a body', { id: 'd1', data: { people: [person] } }],
    ['an envelope with a person', { id: 'd1', type: 'phones', data: person }],
    ['an envelope with a list of people', { results: [person], errors: [] }],
    [
      'an envelope with a body beside an account',
      { account: { id: 'a1', sanitized_phone: '+15550100000' }, payload: { people: [person] } },
    ],
    ['an envelope in an envelope', { event: { id: 'd1' }, message: { body: { people: [person] } } }],
    ['an envelope with the request', { request: { details: [{ email: 'm@l.example' }] }, results: [person] }],
  ])('people of a body are read from %s', (_, body) => {
    expect(read(body)?.people).toMatchObject([{ id: 'p1', phones: [{ sanitizedNumber: '+15550100123' }] }]);
  });
});

describe('addresses of a delivered person', () => {
  const reading = (person: object) => read({ people: [{ id: 'p1', ...person }] })?.people[0];
  const address = { email: 'm@l.example', email_status: 'verified' };

  it.each<[string, object]>([
    ['objects', { emails: [address] }],
    ['texts', { emails: ['m@l.example'] }],
    ['the list of the contact', { contact: { contact_emails: [address] } }],
    ['the list of a contact', { contact_emails: [address] }],
    ['the address of the person', address],
  ])('addresses of a delivered person are read from %s', (_, person) => {
    expect(reading(person)).toMatchObject({ emails: [{ email: 'm@l.example' }], fields: ['emails'] });
  });

  it('addresses of a delivered person with phones are only those in a list', () => {
    const known = { ...address, contact: { contact_emails: [address] } };
    const { emails, addresses, fields } = reading({ ...known, phone_numbers: [phone] })!;
    expect({ emails, fields }).toEqual({ emails: [], fields: ['phone_numbers'] });
    expect(new Set(addresses)).toEqual(new Set(['m@l.example']));
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
  ])('the body of a waterfall has the exact id of its request as %s', (_, id) => {
    expect(read(body(id))?.requestId).toBe('-9223372036854775807');
  });

  it('the body of a waterfall has addresses, its target fields, and a price that may be a fraction', () => {
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
    ['an address without phones', { people: [{ id: 'w1', email: 'm@l.example' }] }],
  ])('the body of a waterfall is recognised by %s alone', (_, minimal) => {
    expect(read(minimal)?.kind).toBe('waterfall');
  });
});

describe('a body', () => {
  it.each([
    ['absent', {}],
    ['negative', { credits_consumed: -1 }],
    ['not-a-number', { credits_consumed: 'eight' }],
  ])('the body of a late result whose price is %s has no price', (creditsProblem, price) => {
    expect(read({ ...price, people: [] })).toMatchObject({ creditsConsumed: undefined, creditsProblem });
  });

  it('the body of a late result counts unreadable people and keeps the others', () => {
    const late = read({ people: ['nobody', null, { id: 7, phone_numbers: [phone] }] });
    expect([late?.unreadablePeople, late?.people.map((person) => person.id)]).toEqual([2, ['7']]);
  });

  it('a list of one body has the exact request id and price of the body', () => {
    const late = read(
      ' [ {"request_id":-9007199254740993,"credits_consumed":"8.5","people":[{"id":"p1"}]} ] ',
    );
    expect(late).toMatchObject({ requestId: '-9007199254740993', creditsConsumed: 8_500_000n });
  });

  it('an envelope has the exact request id and price of its body, and its own for what the body leaves out', () => {
    const people = '[{"id":"p1","phone_numbers":[]}]';
    const envelope = `{"request_id":-9007199254740993,"credits_consumed":1,"status":"pending",
      "data":{"credits_consumed":"8.5","people":${people}}}`;
    expect(read(envelope)).toMatchObject({
      requestId: '-9007199254740993',
      creditsConsumed: 8_500_000n,
      people: [{ id: 'p1', isPending: true }],
    });
    expect(read(`{"credits_consumed":0.1,"results":${people}}`)?.creditsConsumed).toBe(100_000n);
  });

  it('a list of people is one body without a price, with the people for whom nothing was found', () => {
    const people = [
      { id: 'a', emails: [{ email: 'a@acme.example' }] },
      { id: 'b', phone_numbers: [] },
      { id: 'c' },
    ];
    expect(read(people)).toEqual(read({ people }));
    expect(read(people)).toMatchObject({ kind: 'waterfall', creditsProblem: 'absent' });
    expect(read(people)?.people.map((person) => person.id)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '<html>'],
    ['no list of people', { people: {} }],
    ['an empty list', []],
    ['a list without people', [{}, 7]],
    ['an envelope without people', { data: { status: 'success' }, errors: [] }],
    [
      'an envelope with two bodies',
      { native: { people: [{ id: 'a' }] }, waterfall: { people: [{ id: 'b' }] } },
    ],
    ['the request alone', { request: { details: [{ email: 'm@l.example' }] } }],
    ['a list of two bodies, each with a price', [{ people: [{ id: 'a' }] }, { people: [{ id: 'b' }] }]],
  ])('a body that is %s is no late result', (_, other) => {
    expect(read(other)).toBeUndefined();
  });

  it('a list of two million numbers, or an envelope with it, is refused within seconds', () => {
    const numbers = `[${'1,'.repeat(2_000_000)}1]`;
    const began = performance.now();
    expect([read(numbers), read(`{"data":${numbers}}`)]).toEqual([undefined, undefined]);
    // It takes half a second. When each number was read as a person, it took a second per megabyte, 8 s.
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
