import { describe, expect, it } from 'vitest';
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

it.each<[string, Identity, Person]>([
  ['row Jane with jdoe@acme.example, person John Doe', row('Jane/', 'jdoe@acme.example'), person('John/Doe')],
  [
    'row with the last name "Ann Smith", person Ben Smith with the same e-mail',
    row('/Ann Smith', 's@gmail.com'),
    person('Ben/Smith', 's@gmail.com'),
  ],
  ['row James Smith, person John J. Smith', row('James/Smith'), person('John J./Smith')],
  ['row Peter A. Smith, person Anna Smith', row('Peter A./Smith'), person('Anna/Smith')],
  [
    'row Peter Alan Smith in two cells, person Peter B. Smith',
    row('Peter Alan/Smith'),
    person('Peter B./Smith'),
  ],
  [
    'row Peter Alan Smith in one cell, person Peter Bruce Smith',
    row('Peter Alan Smith'),
    person('Peter Bruce/Smith'),
  ],
  ['row J Martin, person Martin James', row('J/Martin'), person('Martin/James')],
  ['row J Martin, person Martin J.', row('J/Martin'), person('Martin/J.')],
  [
    'row Jane D., person Jane D., both with only the initial of the last name',
    row('Jane/D.'),
    person('Jane/D.'),
  ],
  ['row Ann Alee, person Anna Lee', row('Ann/Alee'), person('Anna/Lee')],
  ['row 王伟, person 王伟东', row('伟/王'), person('伟东/王')],
  [
    'row John Smith at Acme GmbH, person John Smith at Acme Inc with another domain',
    row('John/Smith', { organizationName: 'Acme GmbH', domain: 'acme.test' }),
    person('John/Smith', { organization: { ...acme, name: 'Acme Inc' } }),
  ],
  [
    'row John Smith, person Jane Smith with the same e-mail',
    row('John/Smith', 's@gmail.com'),
    person('Jane/Smith', 's@gmail.com'),
  ],
  [
    'row Sasha Smith, person Ann Smith with the same profile URL',
    row('Sasha/Smith', { profileUrl: 'linkedin.com/in/s' }),
    person('Ann/Smith', { proflink_url: 'https://linkedin.com/in/s' }),
  ],
  [
    'row with only the name Neha, person Olga Novak with the same profile URL',
    row('Neha/', { profileUrl: 'linkedin.com/in/olga-novak' }),
    person('Olga/Novak', { proflink_url: 'https://linkedin.com/in/olga-novak' }),
  ],
  [
    'row with jsmith2@acme.example, person John Smith',
    row('/', 'jsmith2@acme.example'),
    person('John/Smith'),
  ],
  [
    'row with 1smith.john@acme.example, person John Smith',
    row('/', '1smith.john@acme.example'),
    person('John/Smith'),
  ],
  [
    'row with only the name Bob, person Alice Smith with the same e-mail',
    row('Bob/', 'smiths@gmail.com'),
    person('Alice/Smith', 'smiths@gmail.com'),
  ],
])('a person of the same family or company is not accepted: %s', (_, asked, other) =>
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
    [
      'row Bob Smith, person Robert Smith with the same e-mail',
      row('Bob/Smith', 'rs@gmail.com'),
      person('Robert/Smith', 'rs@gmail.com'),
      'email',
    ],
    [
      'row J.R. Smith, person Jane Keller with the same e-mail',
      row('J.R./Smith', 'j@gmail.com'),
      person('Jane/Keller', 'j@gmail.com'),
      'email',
    ],
    [
      'row with only the last name of Ann van der Berg and the same e-mail',
      row('/van der Berg', 'a@gmail.com'),
      person('Ann/van der Berg', 'a@gmail.com'),
      'email',
    ],
    [
      'row with only first names of Ana Maria José García and the same e-mail',
      row('Maria José/', 'm@gmail.com'),
      person('Ana Maria José/García', 'm@gmail.com'),
      'email',
    ],
    [
      'row Peter Smith, person J. Peter Smith with the same e-mail',
      row('Peter/Smith', 'p@gmail.com'),
      person('J. Peter/Smith', 'p@gmail.com'),
      'email',
    ],
    [
      'row Sasha Smith, person Ann Smith with the same profile URL and e-mail',
      row('Sasha/Smith', { profileUrl: 'linkedin.com/in/s', email: 's@gmail.com' }),
      person('Ann/Smith', { proflink_url: 'https://linkedin.com/in/s', personal_emails: ['s@gmail.com'] }),
      'profile_url',
    ],
    [
      'row Sasha Smith, person Ann Smith with the same id',
      row('Sasha/Smith', { personId: 'same' }),
      person('Ann/Smith', {}),
      'person_id',
    ],
    [
      'row James Martin, person Martin James at the same company',
      row('James/Martin'),
      person('Martin/James'),
      byName,
    ],
    [
      'row Peter A. Smith in one cell, person Peter Smith at the same company',
      row('Peter A. Smith'),
      person('Peter/Smith'),
      byName,
    ],
    [
      'row Mary Ann Smith in one cell, person Mary Ann Smith at the same company',
      row('Mary Ann Smith'),
      person('Mary Ann/Smith'),
      byName,
    ],
    [
      'row Peter Smith at Acme without a domain, person Peter Smith with Acme as past employer',
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
