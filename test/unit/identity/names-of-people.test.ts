import { describe, expect, it } from 'vitest';
import { emailHashes } from '../../../src/domain/identity/values/email-address.ts';
import type { Identity } from '../../../src/domain/identity/identity.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { alignCall } from '../../helpers/invented/align-call.ts';

/** The evidence by which a person of an answer is accepted for a row; else the outcome of the row. */
function outcome(asked: Identity, answered: Person): string {
  const [aligned] = alignCall([asked], [{ id: 'same', ...answered }]).rows;
  return aligned?.outcome === 'enriched' ? aligned.evidence : String(aligned?.outcome);
}

const acme = { name: 'Acme', primary_domain: 'acme.example' };

/** First and last name of `First/Last`; without a slash it is the whole name. */
function named(text: string): { first?: string; last?: string; whole?: string } {
  const [first, last] = text.split('/');
  return last === undefined ? { whole: text } : { ...(first && { first }), ...(last && { last }) };
}

/** A row of Acme, or one with an address or other cells. */
function row(name: string, cells: Identity | string = { domain: 'acme.example' }): Identity {
  const { first, last, whole } = named(name);
  return {
    ...(first !== undefined && { firstName: first }),
    ...(last !== undefined && { lastName: last }),
    ...(whole !== undefined && { name: whole }),
    ...(typeof cells === 'string' ? { email: cells } : cells),
  };
}

/** A person of Acme, or one with an address or other fields. */
function person(name: string, fields: Person | string = { organization: acme }): Person {
  const { first, last } = named(name);
  return { first_name: first, last_name: last, ...(typeof fields === 'string' ? { email: fields } : fields) };
}

it.each<[string, Identity, Person]>([
  ['an address made of the name', row('Jane/', 'jdoe@acme.example'), person('John/Doe')],
  ['the last word of a last name', row('/Ann Smith', 's@gmail.com'), person('Ben/Smith', 's@gmail.com')],
  ['a middle initial that is that of the first name', row('James/Smith'), person('John J./Smith')],
  ['a first name that begins with the middle initial', row('Peter A./Smith'), person('Anna/Smith')],
  ['another middle name', row('Peter Alan/Smith'), person('Peter B./Smith')],
  ['another middle name, within the whole name', row('Peter Alan Smith'), person('Peter Bruce/Smith')],
  ['the first name for a last name, and its initial', row('J/Martin'), person('Martin/James')],
  ['a last name that is that initial', row('J/Martin'), person('Martin/J.')],
  ['a last name of which only the initial is known', row('Jane/D.'), person('Jane/D.')],
  ['a name in the same letters, cut elsewhere', row('Ann/Alee'), person('Anna/Lee')],
  ['a first character of a name without initials', row('伟/王'), person('伟东/王')],
  [
    'a company of the same name and another domain',
    row('John/Smith', { organizationName: 'Acme GmbH', domain: 'acme.test' }),
    person('John/Smith', { organization: { ...acme, name: 'Acme Inc' } }),
  ],
  ['a shared address and last name', row('John/Smith', 's@gmail.com'), person('Jane/Smith', 's@gmail.com')],
  [
    'the profile, under another first name',
    row('Sasha/Smith', { profileUrl: 'linkedin.com/in/s' }),
    person('Ann/Smith', { proflink_url: 'https://linkedin.com/in/s' }),
  ],
  [
    'the profile, under a single name that is not theirs',
    row('Neha/', { profileUrl: 'linkedin.com/in/olga-novak' }),
    person('Olga/Novak', { proflink_url: 'https://linkedin.com/in/olga-novak' }),
  ],
  ['an address with a number behind the name', row('/', 'jsmith2@acme.example'), person('John/Smith')],
  ['an address with a number within the name', row('/', '1smith.john@acme.example'), person('John/Smith')],
  ['a shared address alone', row('Bob/', 'smiths@gmail.com'), person('Alice/Smith', 'smiths@gmail.com')],
])('another person of the family or the company is not accepted by %s', (_, asked, other) =>
  expect(outcome(asked, other)).toBe('identity_mismatch'),
);

it('the hash of a shared mailbox such as info@ is not enough to match a row to a person', () => {
  const other = { name: 'Ivo Brandt', email: 'info@orbit.example' };
  const [hashedEmail] = emailHashes(other.email);
  expect(outcome({ hashedEmail: hashedEmail! }, other)).toBe('identity_mismatch');
});

describe('the same person under another name', () => {
  const byName = 'name_and_organization';

  it.each<[string, Identity, Person, string]>([
    ['a nickname', row('Bob/Smith', 'rs@gmail.com'), person('Robert/Smith', 'rs@gmail.com'), 'email'],
    [
      'an initial, after a marriage',
      row('J.R./Smith', 'j@gmail.com'),
      person('Jane/Keller', 'j@gmail.com'),
      'email',
    ],
    [
      'only the last name',
      row('/van der Berg', 'a@gmail.com'),
      person('Ann/van der Berg', 'a@gmail.com'),
      'email',
    ],
    [
      'only the first name',
      row('Maria José/', 'm@gmail.com'),
      person('Ana Maria José/García', 'm@gmail.com'),
      'email',
    ],
    [
      'the second first name',
      row('Peter/Smith', 'p@gmail.com'),
      person('J. Peter/Smith', 'p@gmail.com'),
      'email',
    ],
    [
      'another first name with the same profile and the same address',
      row('Sasha/Smith', { profileUrl: 'linkedin.com/in/s', email: 's@gmail.com' }),
      person('Ann/Smith', { proflink_url: 'https://linkedin.com/in/s', personal_emails: ['s@gmail.com'] }),
      'profile_url',
    ],
    [
      "another first name with the service's id",
      row('Sasha/Smith', { personId: 'same' }),
      person('Ann/Smith', {}),
      'person_id',
    ],
    ['first and last name swapped', row('James/Martin'), person('Martin/James'), byName],
    ['a middle initial that one side lacks', row('Peter A. Smith'), person('Peter/Smith'), byName],
    ['a whole name of three words', row('Mary Ann Smith'), person('Mary Ann/Smith'), byName],
    [
      'a past employer, where the row names no domain',
      row('Peter Smith', { organizationName: 'Acme' }),
      person('Peter/Smith', {
        organization: { name: 'Globex', primary_domain: 'globex.example' },
        employment_history: [{ organization_name: 'Acme Ltd' }],
      }),
      byName,
    ],
  ])('the same person under another name is accepted: %s', (_, asked, known, evidence) =>
    expect(outcome(asked, known)).toBe(evidence),
  );

  it.each([
    'Dr. med. Ada/Novak',
    'Dr.rer.nat. Ada Novak',
    'Prof. Dr. h.c. Ada/Novak',
    'Dipl.-Ing. Ada/Novak',
    'Mag. Ada Novak',
  ])('a title such as %s in only one of two names does not prevent a match', (name) =>
    expect(outcome(row(name), person('Ada/Novak'))).toBe(byName),
  );

  it('a nickname at the same employer is not accepted', () =>
    expect(outcome(row('Bob/Smith'), person('Robert/Smith'))).toBe('identity_mismatch'));
});
