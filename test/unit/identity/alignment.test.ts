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

/** Describes each row in one line: the assigned person with the evidence, or the outcome. */
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
  [
    'an entry with only an id and an employer counts as not found',
    [ada],
    [{ id: 'p-stub', organization: { name: 'Orbit' } }],
    [miss],
  ],
  [
    'an entry with only an id and a placeholder e-mail counts as not found',
    [ada],
    [{ id: 'p-stub', email: blank }],
    [miss],
  ],
  [
    'the domain of a placeholder e-mail is not read as the employer',
    [ada],
    [{ ...adaPerson, email: blank, organization: { name: 'Orbit' } }],
    ['p-ada by name_and_organization'],
  ],
  [
    'a person with the e-mail of a row and another first name is a mismatch of this row',
    [ada, ben, cleo],
    [null, null, { ...adaPerson, first_name: 'Zdenka' }],
    [no, miss, miss],
  ],
  ['a person with the shared mailbox of a row is a mismatch of this row', [ben, mailbox], [ivo], [miss, no]],
  ['a shared mailbox such as info@ is not enough evidence', [mailbox], [ivo], [no]],
  [
    'a person with another id than the row is refused if the e-mails also differ',
    [{ ...ada, personId: 'p-1', email: 'old@orbit.example' }],
    [{ ...adaPerson, id: 'p-2' }],
    [no],
  ],
  [
    'a person with another id than the row is accepted by e-mail, because the service merges records',
    [{ ...ada, personId: 'p-1' }],
    [{ ...adaPerson, id: 'p-2' }],
    ['p-2 by email'],
  ],
  [
    'the same e-mail is not enough if both first and last name differ',
    [ada],
    [{ ...stranger, email: ada.email! }],
    [no],
  ],
  [
    'a row with only a last name and an e-mail is matched by e-mail',
    [{ lastName: 'Smith', email: smith.email }],
    [smith],
    ['s by email'],
  ],
  [
    'a row with only a nickname and an e-mail is matched by e-mail',
    [{ firstName: 'Bob', email: smith.email }],
    [smith],
    ['s by email'],
  ],
  [
    'a name in Cyrillic letters does not contradict the same e-mail',
    [{ name: 'Иван Петров', email: 'ivan@gmail.com' }],
    [{ id: 'i', name: 'Ivan Petrov', email: 'ivan@gmail.com' }],
    ['i by email'],
  ],
  [
    'a person with a blank id is accepted by e-mail, but not by name and employer',
    [ada, ben],
    [adaPerson, benPerson].map((person) => ({ ...person, id: ' ' })),
    ['  by email', no],
  ],
  [
    'two people with identifiers of one row are both refused, and so is a third person who fits by name',
    [{ ...ada, profileUrl: byProfile }],
    [adaPerson, { id: 'p-2', name: 'Ada Novak', proflink_url: `https://${byProfile}` }, adaOfOrbit],
    [no],
  ],
  [
    'one person is assigned to two rows that both have an identifier of the person',
    [ada, { profileUrl: byProfile }],
    [{ ...adaPerson, proflink_url: `https://${byProfile}` }, null],
    ['p-ada by email', 'p-ada by profile_url'],
  ],
  [
    'an e-mail in the contact record of a person is evidence',
    [ben],
    [{ id: 'p-b', name: 'Ben Okoro', contact: { contact_emails: [{ email: 'BEN@gmail.com' }] } }],
    ['p-b by email'],
  ],
  ...emailHashes(adaPerson.email!).flatMap((hashedEmail): [string, Identity[], Person[], string[]][] => [
    [
      'the hash of an e-mail of the person is evidence',
      [{ hashedEmail }],
      [adaPerson],
      ['p-ada by hashed_email'],
    ],
    ['the hash of another e-mail is not evidence', [{ hashedEmail }], [stranger], [no]],
  ]),
  [
    'a namesake at another employer is refused',
    [zoe],
    [{ ...zoePerson, organization: { name: 'Globex' } }],
    [no],
  ],
  [
    'a namesake with another e-mail at the same domain is refused',
    [{ name: 'John Smith', email: 'john.smith@acme.example' }],
    [smithOfAcme],
    [no],
  ],
  [
    "a person with another e-mail is refused although the row's e-mail resembles the name",
    [{ email: 'jsmith@acme.example' }],
    [smithOfAcme],
    [no],
  ],
  [
    'a namesake is refused if two rows have the same name and employer',
    [
      { firstName: 'Ada', lastName: 'Novak', organizationName: 'Orbit' },
      { firstName: 'Ada', lastName: 'Novak', organizationName: 'Orbit', email: 'ada@fjord.example' },
    ],
    [{ ...adaOfOrbit, organization: { name: 'Orbit', primary_domain: 'orbit.example' } }],
    [no, no],
  ],
  [
    'of two rows with the same name and employer, only the row with an e-mail gets a person',
    [{ ...zoe, email: 'zoe@acme.example' }, zoe],
    [{ ...zoePerson, id: 'z1', email: 'zoe@acme.example' }, zoePerson],
    ['z1 by email', no],
  ],
  [
    'only the first name and the same employer are not enough',
    [{ firstName: 'Zoë', email: 'zoe@gmail.com', organizationName: 'Acme Robotics' }],
    [{ id: 'z', first_name: 'Zoë', ...acme }],
    [no],
  ],
  ['two namesakes who both fit one row are refused', [zoe], [zoePerson, { ...zoePerson, id: 'z2' }], [no]],
  [
    'one person who fits two rows by name and employer is refused for both',
    [zoe, { ...zoe, lastName: 'Lang' }],
    [{ ...zoePerson, name: 'Zoë Lang' }, null],
    [no, no],
  ],
  [
    'an e-mail of a row that spells the name of a person is not evidence',
    [{ email: 'jferro@orbit.example' }],
    [jo],
    [no],
  ],
  [
    'a person with unreadable fields is accepted by e-mail',
    [ben],
    [{ ...partly, email: ben.email! }],
    ['p-ben by email'],
  ],
  [
    'an e-mail among the personal e-mails of a person is evidence, in any letter case',
    [freelancer],
    [{ ...adaOfOrbit, personal_emails: ['x@gmail.com', 'Ada77@Gmail.com'] }],
    ['a by email'],
  ],
  [
    'the same name is not enough if the row has the hash of an unknown e-mail',
    [{ firstName: 'Ada', lastName: 'Novak', hashedEmail: hashOfOldAddress! }],
    [{ ...adaOfOrbit, email: 'ada@orbit.example' }],
    [no],
  ],
  [
    'the same name and employer are enough if the row has the hash of an unknown e-mail',
    [{ firstName: 'Ada', lastName: 'Novak', hashedEmail: hashOfOldAddress!, organizationName: 'Orbit' }],
    [{ ...adaOfOrbit, email: 'ada@orbit.example' }],
    ['a by name_and_organization'],
  ],
])('people of an answer are assigned to rows by evidence: %s', (_, rows, people, outcomes) => {
  expect(align(rows, people)).toEqual(outcomes);
});

it.each(cases.nameAndEmployer as [string, Person][])(
  'a row without an identifier accepts a person of the same name and employer: %s',
  (_, person) => expect(align([zoe], [person])).toEqual(['z by name_and_organization']),
);

it('a person listed twice without an id is accepted if both entries are equal or share a profile URL', () => {
  const person = { ...adaPerson, id: null };
  expect(align([ada], [person, { ...person }])).toEqual(['null by email']);
  expect(align([ada], [person, { ...person, last_name: 'Novák', title: 'CEO' }])).toEqual([no]);
  const profile = { ...person, proflink_url: 'https://linkedin.com/in/ada' };
  expect(align([ada], [profile, { ...profile, title: 'CEO' }])).toEqual(['null by email']);
});

it.each<[string, Identity[], (Person | null)[], string[], string]>([
  [
    'a stranger in the position of a requested person',
    [ada, ben],
    [stranger, benPerson],
    [no, 'p-ben by name_and_organization'],
    'another name',
  ],
  [
    'a person with unreadable fields who fits by name and employer',
    [ben],
    [partly],
    [no],
    'only an identifier could show that it is this person',
  ],
  [
    'a person with only the same name',
    [freelancer, ben],
    [adaOfOrbit, null],
    [no, miss],
    'only the name agrees',
  ],
  [
    'a person with only the same name, in the position of another row',
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
