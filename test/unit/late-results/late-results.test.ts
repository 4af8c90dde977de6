import { expect, it } from 'vitest';
import {
  assignDeliveredPeople,
  resultsInDelivery,
  emailRank,
  lateKindsOfFields,
} from '../../../src/domain/late-results/expected-results.ts';
import {
  requestedFieldGroups,
  lateKindsToAwait,
  lateKindsRequestedBy,
} from '../../../src/domain/late-results/delivery-kinds.ts';

const found = { found: 7, phoneStatus: undefined, waterfallStatus: undefined };

it('phones and waterfall fields are late results; personal e-mails come with the answer', () => {
  expect(lateKindsRequestedBy({ reveal: ['email'], waterfall: [] })).toEqual([]);
  expect(lateKindsRequestedBy({ reveal: ['phone'], waterfall: ['email', 'phone'] })).toEqual([
    'phone',
    'waterfall_email',
    'waterfall_phone',
  ]);
});

it('the lookup history has separate field groups for profile, personal e-mail, phone and waterfall', () => {
  expect(requestedFieldGroups({ reveal: ['email', 'phone'], waterfall: ['email'] })).toEqual([
    'profile',
    'personal_email',
    'phone',
    'waterfall_email',
  ]);
});

it.each([
  ['phones if the answer found people', found, ['phone']],
  ['phones if the answer has the phone status pending', { ...found, phoneStatus: 'pending' }, ['phone']],
  ['nothing if the answer found nobody', { ...found, found: 0 }, []],
  ['nothing if the service skipped the phone request', { ...found, phoneStatus: 'skipped' }, []],
  ['nothing if the phone request failed', { ...found, phoneStatus: 'failed' }, []],
])('after a phone reveal, lateKindsToAwait() returns %s', (_, answer, kinds) => {
  expect(lateKindsToAwait(['phone'], answer)).toEqual(kinds);
});

it.each([
  ['accepted', true],
  ['partial_accepted', true],
  [undefined, true],
  ['failed', false],
  ['rejected_by_plan', false],
])('a waterfall with the status %s has late results to wait for: %s', (waterfallStatus, comes) => {
  const kinds = lateKindsToAwait(['waterfall_email'], { ...found, waterfallStatus });
  expect(kinds).toEqual(comes ? ['waterfall_email'] : []);
  expect(lateKindsToAwait(['waterfall_email'], { ...found, found: 0, waterfallStatus })).toEqual([]);
});

it('lateKindsOfFields() returns the kinds of known target fields, and all kinds for unknown or no fields', () => {
  const kindsOf = (...targetFields: string[]) => lateKindsOfFields({ kind: 'waterfall', targetFields });
  expect(kindsOf('emails')).toEqual(['waterfall_email']);
  expect(kindsOf('phone_numbers')).toEqual(['waterfall_phone']);
  expect(kindsOf()).toEqual(['waterfall_email', 'waterfall_phone']);
  expect(kindsOf('something new')).toEqual(['waterfall_email', 'waterfall_phone']);
});

const expected = [
  { key: 'p1', emails: ['ada@orbit.example', 'both@orbit.example'] },
  { key: 'p2', emails: ['bob@orbit.example', 'both@orbit.example'] },
];
const entry = (key: string | undefined, email?: string, isKnown = false) => ({
  key,
  emails: email === undefined ? [] : [email],
  isKnown,
});

it.each([
  ['the person with its id', [entry('p2')], ['p2']],
  ['the person with its id, also if two entries have this id', [entry('p1'), entry('p1')], ['p1', 'p1']],
  ['the only person with its e-mail if its id is unknown', [entry('w9', 'bob@orbit.example')], ['p2']],
  ['nobody if two people have its e-mail', [entry('w9', 'both@orbit.example')], [undefined]],
  [
    'nobody if its id belongs to somebody else in the warehouse',
    [entry('x', 'bob@orbit.example', true)],
    [undefined],
  ],
  [
    'nobody if the person with its e-mail has another entry',
    [entry('p2'), entry('w', 'bob@orbit.example')],
    ['p2', undefined],
  ],
  [
    'nobody if two entries with unknown ids have the same e-mail',
    [entry('w1', 'bob@orbit.example'), entry('w2', 'bob@orbit.example')],
    [undefined, undefined],
  ],
  ['nobody if its id and its e-mail belong to two people', [entry('p1', 'bob@orbit.example')], [undefined]],
  [
    'the person with its id, although two people have its e-mail',
    [entry('p1', 'both@orbit.example')],
    ['p1'],
  ],
])('assignDeliveredPeople() assigns a waterfall entry to %s', (_, people, keys) => {
  expect(assignDeliveredPeople(expected, people, 'waterfall')).toEqual(keys);
});

it('assignDeliveredPeople() does not assign a phone entry with an unknown id by e-mail', () => {
  expect(assignDeliveredPeople(expected, [entry('w9', 'bob@orbit.example')], 'phones')).toEqual([undefined]);
});

const both = {
  key: 'a',
  phones: ['1'],
  emails: ['e'],
  fields: ['emails', 'phone_numbers'],
  isPending: false,
};
const of = (targetFields: readonly string[], person: Partial<typeof both>) =>
  resultsInDelivery([{ ...both, ...person }], { kind: 'waterfall', targetFields });

it.each([
  [
    'leaves out results of fields that are not target fields',
    ['phone_numbers'],
    {},
    ['waterfall_phone/a'],
    ['waterfall_phone/a'],
  ],
  ['covers a target field without values', ['phone_numbers'], { phones: [] }, ['waterfall_phone/a'], []],
  [
    'takes results of other fields if the target fields have none',
    ['phone_numbers'],
    { phones: [], fields: ['emails'] },
    ['waterfall_email/a'],
    ['waterfall_email/a'],
  ],
  ['covers nothing for a pending person', [], { phones: [], emails: [], isPending: true }, [], []],
])('resultsInDelivery() %s', (_, targetFields, person, covers, brings) => {
  expect(of(targetFields, person)).toEqual({ covers, brings });
});

it('emailRank() ranks e-mails from verified to unusable', () => {
  const ranks = ['verified', 'likely_to_engage', null, 'Guessed', 'extrapolated', 'bounced'].map(emailRank);
  expect(ranks).toEqual([0, 1, 2, 3, 4, 9]);
});
