import { expect, it } from 'vitest';
import type { Identity } from '../../../src/domain/identity/identity.ts';
import { emailHashes } from '../../../src/domain/identity/values/email-address.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import { alignCall, type AlignedCall } from '../../helpers/invented/align-call.ts';
import cases from '../../data/identity/alignment.json' with { type: 'json' };

const ada: Identity = {
  firstName: 'Ada',
  lastName: 'Novak',
  email: 'ada.novak@orbit.example',
  organizationName: 'Orbit Ltd',
};
const ben: Identity = {
  firstName: 'Ben',
  lastName: 'Okoro',
  email: 'ben@gmail.com',
  organizationName: 'Fjord & Sons',
};
const cleo: Identity = { profileUrl: 'linkedin.com/in/cleo-marsh' };

const adaPerson: Person = {
  id: 'p-ada',
  first_name: 'Ada',
  last_name: 'Novak',
  email: 'ada.novak@orbit.example',
};
const benPerson: Person = { id: 'p-ben', name: 'Ben Okoro', organization: { name: 'Fjord and Sons, Inc.' } };
const stranger: Person = {
  id: 'p-x',
  name: 'Xavier Quill',
  email: 'x@elsewhere.example',
  organization: { name: 'Elsewhere' },
};

/** Outcome and person of each row, in one line. */
function told({ rows }: AlignedCall): string[] {
  return rows.map((row) =>
    row.outcome === 'enriched' ? `${row.person.id} by ${row.evidence}` : row.outcome,
  );
}

function align(asked: Identity[], matches: (Person | null)[]): string[] {
  return told(alignCall(asked, matches));
}

const adaOfOrbit = { id: 'a', name: 'Ada Novak', organization: { name: 'Orbit' } };
const byProfile = 'linkedin.com/in/ada';
const mailbox = { email: 'info@orbit.example' };
const ivo = { id: 'p-i', name: 'Ivo Brandt', ...mailbox };
const blank = 'email_not_unlocked@domain.com';
const smith = { id: 's', first_name: 'Robert', last_name: 'Smith', email: 'smith@gmail.com' };
const zoe: Identity = { firstName: 'Zoë', lastName: 'Müller-Lang', organizationName: 'Acme Robotics' };
const acme = { organization: { name: 'Acme Robotics' } };
const zoePerson = { id: 'z', name: 'Zoë Müller-Lang', ...acme };
const smithOfAcme = {
  id: 'j2',
  name: 'John Smith',
  email: 'john.smith2@acme.example',
  organization: { name: 'Acme', primary_domain: 'acme.example' },
};
const jo = { id: 'j', name: 'Jo Ferro', organization: { primary_domain: 'orbit.example' } };
const freelancer: Identity = { firstName: 'Ada', lastName: 'Novak', email: 'ada77@gmail.com' };
const [hashOfOldAddress] = emailHashes('ada@old.example');
const partly: Person = { ...benPerson, isPartlyRead: true };
const [no, miss] = ['identity_mismatch', 'not_found'];

it.each<[string, Identity[], (Person | null)[], string[]]>([
  ['a stub is a miss', [ada], [{ id: 'p-stub', organization: { name: 'Orbit' } }], [miss]],
  ['a stub with a placeholder address is a miss', [ada], [{ id: 'p-stub', email: blank }], [miss]],
  [
    'a placeholder address states no employer',
    [ada],
    [{ ...adaPerson, email: blank, organization: { name: 'Orbit' } }],
    ['p-ada by name_and_organization'],
  ],
  [
    'a relative is the mismatch of the row with the address',
    [ada, ben, cleo],
    [null, null, { ...adaPerson, first_name: 'Zdenka' }],
    [no, miss, miss],
  ],
  ['a shared mailbox is the mismatch of its row', [ben, mailbox], [ivo], [miss, no]],
  ['a shared mailbox is no evidence', [mailbox], [ivo], [no]],
  [
    'another id than the one asked for contradicts',
    [{ ...ada, personId: 'p-1', email: 'old@orbit.example' }],
    [{ ...adaPerson, id: 'p-2' }],
    [no],
  ],
  [
    'another id is accepted with an agreeing address, because records are merged',
    [{ ...ada, personId: 'p-1' }],
    [{ ...adaPerson, id: 'p-2' }],
    ['p-2 by email'],
  ],
  ['an agreeing address is too little against both names', [ada], [{ ...stranger, email: ada.email! }], [no]],
  ['a last name alone agrees', [{ lastName: 'Smith', email: smith.email }], [smith], ['s by email']],
  ['a nickname alone agrees', [{ firstName: 'Bob', email: smith.email }], [smith], ['s by email']],
  [
    'a name in another script does not contradict',
    [{ name: 'Иван Петров', email: 'ivan@gmail.com' }],
    [{ id: 'i', name: 'Ivan Petrov', email: 'ivan@gmail.com' }],
    ['i by email'],
  ],
  [
    'a person with a blank id needs an identifier',
    [ada, ben],
    [adaPerson, benPerson].map((person) => ({ ...person, id: ' ' })),
    ['  by email', no],
  ],
  [
    'two people with identifiers of one row both lose it, however well a third person fits',
    [{ ...ada, profileUrl: byProfile }],
    [adaPerson, { id: 'p-2', name: 'Ada Novak', proflink_url: `https://${byProfile}` }, adaOfOrbit],
    [no],
  ],
  [
    'a person goes to two rows with identifiers of the person',
    [ada, { profileUrl: byProfile }],
    [{ ...adaPerson, proflink_url: `https://${byProfile}` }, null],
    ['p-ada by email', 'p-ada by profile_url'],
  ],
  [
    'an address of the saved contact is evidence',
    [ben],
    [{ id: 'p-b', name: 'Ben Okoro', contact: { contact_emails: [{ email: 'BEN@gmail.com' }] } }],
    ['p-b by email'],
  ],
  ...emailHashes(adaPerson.email!).flatMap((hashedEmail): [string, Identity[], Person[], string[]][] => [
    ['a hash of the address is evidence', [{ hashedEmail }], [adaPerson], ['p-ada by hashed_email']],
    ['a hash of another address is none', [{ hashedEmail }], [stranger], [no]],
  ]),
  ['a namesake at another employer', [zoe], [{ ...zoePerson, organization: { name: 'Globex' } }], [no]],
  [
    'a namesake with another address at the domain',
    [{ name: 'John Smith', email: 'john.smith@acme.example' }],
    [smithOfAcme],
    [no],
  ],
  ['an address that names somebody else', [{ email: 'jsmith@acme.example' }], [smithOfAcme], [no]],
  [
    'another row has the same name and employer and another address',
    [
      { firstName: 'Ada', lastName: 'Novak', organizationName: 'Orbit' },
      { firstName: 'Ada', lastName: 'Novak', organizationName: 'Orbit', email: 'ada@fjord.example' },
    ],
    [{ ...adaOfOrbit, organization: { name: 'Orbit', primary_domain: 'orbit.example' } }],
    [no, no],
  ],
  [
    'a row may as well be the colleague with an identifier',
    [{ ...zoe, email: 'zoe@acme.example' }, zoe],
    [{ ...zoePerson, id: 'z1', email: 'zoe@acme.example' }, zoePerson],
    ['z1 by email', no],
  ],
  [
    'a first name alone at the same employer is too little',
    [{ firstName: 'Zoë', email: 'zoe@gmail.com', organizationName: 'Acme Robotics' }],
    [{ id: 'z', first_name: 'Zoë', ...acme }],
    [no],
  ],
  ['two namesakes who fit one row', [zoe], [zoePerson, { ...zoePerson, id: 'z2' }], [no]],
  [
    'one person who fits two rows',
    [zoe, { ...zoe, lastName: 'Lang' }],
    [{ ...zoePerson, name: 'Zoë Lang' }, null],
    [no, no],
  ],
  ['an address that spells the name is no evidence', [{ email: 'jferro@orbit.example' }], [jo], [no]],
  ['a partly unread person has an identifier', [ben], [{ ...partly, email: ben.email! }], ['p-ben by email']],
  [
    'a free-mail address among the personal addresses',
    [freelancer],
    [{ ...adaOfOrbit, personal_emails: ['x@gmail.com', 'Ada77@Gmail.com'] }],
    ['a by email'],
  ],
  [
    'a name with the hash of an unknown address is too little',
    [{ firstName: 'Ada', lastName: 'Novak', hashedEmail: hashOfOldAddress! }],
    [{ ...adaOfOrbit, email: 'ada@orbit.example' }],
    [no],
  ],
  [
    'a name and employer with the hash of an unknown address',
    [{ firstName: 'Ada', lastName: 'Novak', hashedEmail: hashOfOldAddress!, organizationName: 'Orbit' }],
    [{ ...adaOfOrbit, email: 'ada@orbit.example' }],
    ['a by name_and_organization'],
  ],
])('an answer is given to the rows by evidence: %s', (_, rows, people, outcomes) => {
  expect(align(rows, people)).toEqual(outcomes);
});

it.each(cases.nameAndEmployer as [string, Person][])(
  'a row without an identifier accepts a person of the same name and employer: %s',
  (_, person) => expect(align([zoe], [person])).toEqual(['z by name_and_organization']),
);

it('a person who is in an answer twice without an id goes to the row once', () => {
  const person = { ...adaPerson, id: null };
  expect(align([ada], [person, { ...person }])).toEqual(['null by email']);
  expect(align([ada], [person, { ...person, last_name: 'Novák', title: 'CEO' }])).toEqual([no]);
  const profile = { ...person, proflink_url: 'https://linkedin.com/in/ada' };
  expect(align([ada], [profile, { ...profile, title: 'CEO' }])).toEqual(['null by email']);
});

it.each<[string, Identity[], (Person | null)[], string[], string]>([
  [
    'a stranger in the position of a person',
    [ada, ben],
    [stranger, benPerson],
    [no, 'p-ben by name_and_organization'],
    'another name',
  ],
  [
    'a partly unread person at the employer, because the part could contradict',
    [ben],
    [partly],
    [no],
    'only an identifier could show that it is this person',
  ],
  ['a name alone', [freelancer, ben], [adaOfOrbit, null], [no, miss], 'only the name agrees'],
  [
    'a name alone in another position',
    [ben, freelancer],
    [adaOfOrbit, null],
    [miss, no],
    'only the name agrees',
  ],
])('a refused person is quarantined with the reason: %s', (_, rows, people, outcomes, reason) => {
  const alignment = alignCall(rows, people);
  expect(told(alignment)).toEqual(outcomes);
  expect(alignment.quarantined).toEqual([{ matchIndex: 0, reason }]);
});
