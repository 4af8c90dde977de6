import { expect, it } from 'vitest';
import { emailHashes } from '../../../src/domain/identity/values/email-address.ts';
import type { Identity } from '../../../src/domain/identity/identity.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { alignCall } from '../../helpers/invented/align-call.ts';

/** Returns the evidence that assigns the answered person to the row, or the outcome of a row without a person. */
function outcome(asked: Identity, answered: Person): string {
  const [aligned] = alignCall([asked], [{ id: 'same', ...answered }]).rows;
  return aligned?.outcome === 'enriched' ? aligned.evidence : String(aligned?.outcome);
}

const acme = { name: 'Acme', primary_domain: 'acme.example' };

/** Reads `First/Last` as first and last name, and a text without a slash as the whole name. */
function named(text: string): { first?: string; last?: string; whole?: string } {
  const [first, last] = text.split('/');
  return last === undefined ? { whole: text } : { ...(first && { first }), ...(last && { last }) };
}

/** A row with the domain of Acme, or with an e-mail or other cells in its place. */
function row(name: string, cells: Identity | string = { domain: 'acme.example' }): Identity {
  const { first, last, whole } = named(name);
  return {
    ...(first !== undefined && { firstName: first }),
    ...(last !== undefined && { lastName: last }),
    ...(whole !== undefined && { name: whole }),
    ...(typeof cells === 'string' ? { email: cells } : cells),
  };
}

/** A person who works at Acme, or who has an e-mail or other fields in its place. */
function person(name: string, fields: Person | string = { organization: acme }): Person {
  const { first, last } = named(name);
  return { first_name: first, last_name: last, ...(typeof fields === 'string' ? { email: fields } : fields) };
}

/** What a row and a person have in common. */
const common = {
  employer: [{ domain: 'acme.example' }, { organization: acme }],
  'e-mail': [{ email: 's@gmail.com' }, { email: 's@gmail.com' }],
  'profile URL': [{ profileUrl: 'linkedin.com/in/s' }, { proflink_url: 'https://linkedin.com/in/s' }],
  'profile URL and e-mail': [
    { profileUrl: 'linkedin.com/in/s', email: 's@gmail.com' },
    { proflink_url: 'https://linkedin.com/in/s', personal_emails: ['s@gmail.com'] },
  ],
  id: [{ personId: 'same' }, {}],
} as const;
type Common = keyof typeof common;

it.each<[string, string, Common]>([
  ['/Ann Smith', 'Ben/Smith', 'e-mail'],
  ['James/Smith', 'John J./Smith', 'employer'],
  ['Peter A./Smith', 'Anna/Smith', 'employer'],
  ['Peter Alan/Smith', 'Peter B./Smith', 'employer'],
  ['Peter Alan Smith', 'Peter Bruce/Smith', 'employer'],
  ['J/Martin', 'Martin/James', 'employer'],
  ['J/Martin', 'Martin/J.', 'employer'],
  ['Jane/D.', 'Jane/D.', 'employer'],
  ['Ann/Alee', 'Anna/Lee', 'employer'],
  ['伟/王', '伟东/王', 'employer'],
  ['John/Smith', 'Jane/Smith', 'e-mail'],
  ['Sasha/Smith', 'Ann/Smith', 'profile URL'],
  ['Neha/', 'Olga/Novak', 'profile URL'],
  ['Bob/', 'Alice/Smith', 'e-mail'],
  ['Bob/Smith', 'Robert/Smith', 'employer'],
])('a row "%s" does not accept a person %s with the same %s', (rowName, personName, by) => {
  const [cells, fields] = common[by];
  expect(outcome(row(rowName, cells), person(personName, fields))).toBe('identity_mismatch');
});

it.each<[string, Identity, Person]>([
  ['Jane with jdoe@acme.example for John Doe', row('Jane/', 'jdoe@acme.example'), person('John/Doe')],
  [
    'John Smith at Acme GmbH for John Smith at Acme Inc with another domain',
    row('John/Smith', { organizationName: 'Acme GmbH', domain: 'acme.test' }),
    person('John/Smith', { organization: { ...acme, name: 'Acme Inc' } }),
  ],
  ['jsmith2@acme.example for John Smith', row('/', 'jsmith2@acme.example'), person('John/Smith')],
  ['1smith.john@acme.example for John Smith', row('/', '1smith.john@acme.example'), person('John/Smith')],
])('a row does not accept another person of the same company: %s', (_, asked, other) =>
  expect(outcome(asked, other)).toBe('identity_mismatch'),
);

it('the hash of a shared mailbox such as info@ is not enough to match a row to a person', () => {
  const other = { name: 'Ivo Brandt', email: 'info@orbit.example' };
  const [hashedEmail] = emailHashes(other.email);
  expect(outcome({ hashedEmail: hashedEmail! }, other)).toBe('identity_mismatch');
});

const byName = 'name_and_organization';

it.each<[string, string, Common, string]>([
  ['Bob/Smith', 'Robert/Smith', 'e-mail', 'email'],
  ['J.R./Smith', 'Jane/Keller', 'e-mail', 'email'],
  ['/van der Berg', 'Ann/van der Berg', 'e-mail', 'email'],
  ['Maria José/', 'Ana Maria José/García', 'e-mail', 'email'],
  ['Peter/Smith', 'J. Peter/Smith', 'e-mail', 'email'],
  ['Sasha/Smith', 'Ann/Smith', 'profile URL and e-mail', 'profile_url'],
  ['Sasha/Smith', 'Ann/Smith', 'id', 'person_id'],
  ['James/Martin', 'Martin/James', 'employer', byName],
  ['Peter A. Smith', 'Peter/Smith', 'employer', byName],
  ['Mary Ann Smith', 'Mary Ann/Smith', 'employer', byName],
])('a row "%s" accepts a person %s with the same %s, by %s', (rowName, personName, by, evidence) => {
  const [cells, fields] = common[by];
  expect(outcome(row(rowName, cells), person(personName, fields))).toBe(evidence);
});

it('a row accepts a person of the same name whose past employer is the employer of the row', () => {
  const fields = {
    organization: { name: 'Globex', primary_domain: 'globex.example' },
    employment_history: [{ organization_name: 'Acme Ltd' }],
  };
  const asked = row('Peter Smith', { organizationName: 'Acme' });
  expect(outcome(asked, person('Peter/Smith', fields))).toBe(byName);
});

it.each([
  'Dr. med. Ada/Novak',
  'Dr.rer.nat. Ada Novak',
  'Prof. Dr. h.c. Ada/Novak',
  'Dipl.-Ing. Ada/Novak',
  'Mag. Ada Novak',
])('a title such as %s in only one of two names does not prevent a match', (name) =>
  expect(outcome(row(name), person('Ada/Novak'))).toBe(byName),
);
