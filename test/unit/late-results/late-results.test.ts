import { describe, expect, it } from 'vitest';
import {
  assignDelivered,
  deliveredResults,
  emailRank,
  kindsOfFields,
} from '../../../src/domain/late-results/expected-results.ts';
import {
  askedFieldGroups,
  awaitedKinds,
  lateKindsOf,
} from '../../../src/domain/late-results/delivery-kinds.ts';

const found = { found: 7, phoneStatus: undefined, waterfallStatus: undefined };

it('phones and waterfall fields are late results; personal e-mails come with the answer', () => {
  expect(lateKindsOf({ reveal: ['email'], waterfall: [] })).toEqual([]);
  expect(lateKindsOf({ reveal: ['phone'], waterfall: ['email', 'phone'] })).toEqual([
    'phone',
    'waterfall_email',
    'waterfall_phone',
  ]);
});

it('the lookup history records late results apart from the profile', () => {
  expect(askedFieldGroups({ reveal: ['email', 'phone'], waterfall: ['email'] })).toEqual([
    'profile',
    'personal_email',
    'phone',
    'waterfall_email',
  ]);
});

it.each([
  ['phones of people who were found', found, ['phone']],
  ['phones where the answer says that they are pending', { ...found, phoneStatus: 'pending' }, ['phone']],
  ['nothing where nobody was found', { ...found, found: 0 }, []],
  ['nothing where an earlier request serves', { ...found, phoneStatus: 'skipped' }, []],
  ['nothing where it failed', { ...found, phoneStatus: 'failed' }, []],
])('a late result is %s', (_, answer, kinds) => {
  expect(awaitedKinds(['phone'], answer)).toEqual(kinds);
});

it.each([
  ['accepted', true],
  ['partial_accepted', true],
  [undefined, true],
  ['failed', false],
  ['rejected_by_plan', false],
])('late results of a waterfall that is %s: %s', (waterfallStatus, comes) => {
  const kinds = awaitedKinds(['waterfall_email'], { ...found, waterfallStatus });
  expect(kinds).toEqual(comes ? ['waterfall_email'] : []);
  expect(awaitedKinds(['waterfall_email'], { ...found, found: 0, waterfallStatus })).toEqual([]);
});

it('kindsOfFields() returns the kinds of results in a waterfall, or all kinds', () => {
  const kindsOf = (...targetFields: string[]) => kindsOfFields({ kind: 'waterfall', targetFields });
  expect(kindsOf('emails')).toEqual(['waterfall_email']);
  expect(kindsOf('phone_numbers')).toEqual(['waterfall_phone']);
  expect(kindsOf()).toEqual(['waterfall_email', 'waterfall_phone']);
  expect(kindsOf('something new')).toEqual(['waterfall_email', 'waterfall_phone']);
});

describe('assignDelivered()', () => {
  const expected = [
    { key: 'p1', emails: ['ada@orbit.example', 'both@orbit.example'] },
    { key: 'p2', emails: ['bob@orbit.example', 'both@orbit.example'] },
  ];
  const person = (key: string | undefined, email?: string, isKnown = false) => ({
    key,
    emails: email === undefined ? [] : [email],
    isKnown,
  });

  it.each([
    ['the person with the id', [person('p2')], ['p2']],
    ['one person to two entries with the id', [person('p1'), person('p1')], ['p1', 'p1']],
    ['the one person with the e-mail, under another id', [person('w9', 'bob@orbit.example')], ['p2']],
    ['nobody by an e-mail of two people', [person('w9', 'both@orbit.example')], [undefined]],
    [
      'nobody by an e-mail and the id of somebody else',
      [person('x', 'bob@orbit.example', true)],
      [undefined],
    ],
    [
      'nobody by the e-mail of a person with an entry',
      [person('p2'), person('w', 'bob@orbit.example')],
      ['p2', undefined],
    ],
    [
      'nobody by an e-mail of two entries',
      [person('w1', 'bob@orbit.example'), person('w2', 'bob@orbit.example')],
      [undefined, undefined],
    ],
    [
      'nobody by the id of one person and the e-mail of another',
      [person('p1', 'bob@orbit.example')],
      [undefined],
    ],
    ['the person with the id and a shared e-mail', [person('p1', 'both@orbit.example')], ['p1']],
  ])('assignDelivered() gives %s in a waterfall', (_, people, keys) => {
    expect(assignDelivered(expected, people, 'waterfall')).toEqual(keys);
  });

  it('assignDelivered() does not assign a phone reveal under another id', () => {
    expect(assignDelivered(expected, [person('w9', 'bob@orbit.example')], 'phones')).toEqual([undefined]);
  });
});

const both = {
  key: 'a',
  phones: ['1'],
  emails: ['e'],
  fields: ['emails', 'phone_numbers'],
  isPending: false,
};
const of = (targetFields: readonly string[], person: Partial<typeof both>) =>
  deliveredResults([{ ...both, ...person }], { kind: 'waterfall', targetFields });

it.each([
  [
    'leaves out results beside the target fields',
    ['phone_numbers'],
    {},
    ['waterfall_phone/a'],
    ['waterfall_phone/a'],
  ],
  ['covers target fields without values', ['phone_numbers'], { phones: [] }, ['waterfall_phone/a'], []],
  [
    'takes other results if there are none for the target fields',
    ['phone_numbers'],
    { phones: [], fields: ['emails'] },
    ['waterfall_email/a'],
    ['waterfall_email/a'],
  ],
  ['covers nothing that is pending', [], { phones: [], emails: [], isPending: true }, [], []],
])('deliveredResults() %s', (_, targetFields, person, covers, brings) => {
  expect(of(targetFields, person)).toEqual({ covers, brings });
});

it('emailRank() ranks e-mails from verified to unusable', () => {
  const ranks = ['verified', 'likely_to_engage', null, 'Guessed', 'extrapolated', 'bounced'].map(emailRank);
  expect(ranks).toEqual([0, 1, 2, 3, 4, 9]);
});
