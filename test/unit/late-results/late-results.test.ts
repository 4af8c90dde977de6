import { describe, expect, it } from 'vitest';
import {
  assignDelivered,
  emailRank,
  kindsOfFields,
} from '../../../src/domain/late-results/late-assignment.ts';
import {
  askedFieldGroups,
  awaitedKinds,
  lateKindsOf,
} from '../../../src/domain/late-results/delivery-kinds.ts';

const found = { found: 7, phoneStatus: undefined, waterfallStatus: undefined };

describe('what comes later', () => {
  it('late results are phones and waterfall fields; personal addresses come with the answer', () => {
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
});

it('the body of a waterfall completes the fields that it names, or all fields', () => {
  expect(kindsOfFields('waterfall', ['emails'])).toEqual(['waterfall_email']);
  expect(kindsOfFields('waterfall', ['phone_numbers'])).toEqual(['waterfall_phone']);
  expect(kindsOfFields('waterfall', [])).toEqual(['waterfall_email', 'waterfall_phone']);
  expect(kindsOfFields('waterfall', ['something new'])).toEqual(['waterfall_email', 'waterfall_phone']);
});

describe('a delivered person', () => {
  const contacts = [
    { personId: 'p1', emails: ['ada@orbit.example'] },
    { personId: 'p2', emails: ['info@orbit.example', 'bob@orbit.example'] },
    { personId: 'p3', emails: ['info@orbit.example'] },
  ];
  const give = (person: { id?: string; email?: string }, origin: 'phones' | 'waterfall') =>
    assignDelivered(
      contacts,
      [{ id: person.id, addresses: person.email === undefined ? [] : [person.email] }],
      origin,
      ['p1', 'p2', 'p3', 'stranger'],
    )[0];

  it('a delivered person belongs to the contact with the same id', () =>
    expect(give({ id: 'p2' }, 'phones')).toEqual([1]));

  it('a delivered person belongs to both contacts that are this person', () =>
    expect(
      assignDelivered([contacts[0]!, contacts[0]!], [{ id: 'p1', addresses: [] }], 'phones', [])[0],
    ).toEqual([0, 1]));

  it('a delivered person of a waterfall under another id belongs to the one contact with the address', () =>
    expect(give({ id: 'w9', email: 'Bob@orbit.example' }, 'waterfall')).toEqual([1]));

  it('a delivered person under another id belongs to no person where two contacts share the address', () =>
    expect(give({ id: 'w9', email: 'info@orbit.example' }, 'waterfall')).toEqual([]));

  it('a delivered person whom the answer named as another person belongs to no person by an address', () =>
    expect(give({ id: 'stranger', email: 'bob@orbit.example' }, 'waterfall')).toEqual([]));

  it('a delivered person gets no contact by the address of a contact in the body by id, or of two people', () => {
    const bob = ['bob@orbit.example'];
    const assign = (people: { id: string; addresses: string[] }[]) =>
      assignDelivered(contacts, people, 'waterfall', []);
    expect(
      assign([
        { id: 'p2', addresses: [] },
        { id: 'w1', addresses: bob },
      ]),
    ).toEqual([[1], []]);
    expect(
      assign([
        { id: 'w1', addresses: bob },
        { id: 'w2', addresses: bob },
      ]),
    ).toEqual([[], []]);
  });

  it('a delivered person with the id of one contact and the address of another belongs to neither', () => {
    const [ada, bob] = contacts;
    const both = { id: ada!.personId, addresses: [bob!.emails[1]!, 'new@orbit.example'] };
    expect(assignDelivered(contacts, [both], 'waterfall', [])).toEqual([[]]);
    const family = [ada!, { ...bob!, emails: ada!.emails }];
    const own = { id: ada!.personId, addresses: [ada!.emails[0]!] };
    expect(assignDelivered(family, [own], 'waterfall', [])).toEqual([[0]]);
  });

  it('a person of a phone reveal under another id belongs to no contact', () =>
    expect(give({ id: 'w9', email: 'bob@orbit.example' }, 'phones')).toEqual([]));
});

it('emailRank() ranks addresses from verified to unusable', () => {
  const ranks = ['verified', 'likely_to_engage', null, 'Guessed', 'extrapolated', 'bounced'].map(emailRank);
  expect(ranks).toEqual([0, 1, 2, 3, 4, 9]);
});
