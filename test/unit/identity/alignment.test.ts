import { describe, expect, it } from 'vitest';
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

describe('an answer is given to the rows by evidence', () => {
  it('people go to their rows beside a stub for a miss', () =>
    expect(align([ada], [{ id: 'p-stub', organization: { name: 'Orbit' } }])).toEqual(['not_found']));

  it('people go to their rows beside a stub with a placeholder address', () =>
    expect(align([ada], [{ id: 'p-stub', email: 'email_not_unlocked@domain.com' }])).toEqual(['not_found']));

  it('a placeholder address states no employer that contradicts the row', () => {
    const person = { ...adaPerson, email: 'email_not_unlocked@domain.com', organization: { name: 'Orbit' } };
    expect(align([ada], [person])).toEqual(['p-ada by name_and_organization']);
  });

  it('a person who comes twice without an id goes to the row once', () => {
    const person = { ...adaPerson, id: null };
    expect(align([ada], [person, { ...person }])).toEqual(['null by email']);
    expect(align([ada], [person, { ...person, last_name: 'Novák', title: 'CEO' }])).toEqual([
      'identity_mismatch',
    ]);
    const profile = { ...person, proflink_url: 'https://linkedin.com/in/ada' };
    expect(align([ada], [profile, { ...profile, title: 'CEO' }])).toEqual(['null by email']);
  });
});

describe('a stranger', () => {
  it('a stranger in the position of a person goes to no row, and the row says so', () => {
    const alignment = alignCall([ada, ben], [stranger, benPerson]);
    expect(told(alignment)).toEqual(['identity_mismatch', 'p-ben by name_and_organization']);
    expect(alignment.quarantined).toEqual([{ matchIndex: 0, reason: 'another name' }]);
  });

  it('a person who is refused for another first name is the mismatch of the row with the address', () => {
    const relative = { ...adaPerson, first_name: 'Zdenka' };
    expect(align([ada, ben, cleo], [null, null, relative])).toEqual([
      'identity_mismatch',
      'not_found',
      'not_found',
    ]);
    expect(align([ada, ben], [relative])).toEqual(['identity_mismatch', 'not_found']);
  });

  it('a person with the shared mailbox of a row is the mismatch of that row', () =>
    expect(
      align(
        [ben, { email: 'info@orbit.example' }],
        [{ id: 'p-i', name: 'Ivo Brandt', email: 'info@orbit.example' }],
      ),
    ).toEqual(['not_found', 'identity_mismatch']));
});

describe('identifiers', () => {
  it('another id than the one asked for contradicts', () =>
    expect(
      align([{ ...ada, personId: 'p-1', email: 'old@orbit.example' }], [{ ...adaPerson, id: 'p-2' }]),
    ).toEqual(['identity_mismatch']));

  it('another id is accepted with an agreeing address, because records are merged', () =>
    expect(align([{ ...ada, personId: 'p-1' }], [{ ...adaPerson, id: 'p-2' }])).toEqual(['p-2 by email']));

  it('an agreeing address is not enough if first and last name both differ', () =>
    expect(align([ada], [{ ...stranger, email: ada.email! }])).toEqual(['identity_mismatch']));

  it('a shared address is no evidence by itself', () =>
    expect(
      align(
        [{ email: 'info@orbit.example' }],
        [{ id: 'p-i', name: 'Ivo Brandt', email: 'info@orbit.example' }],
      ),
    ).toEqual(['identity_mismatch']));

  it('a row with one name only is not contradicted by the other name', () => {
    const person = { id: 's', first_name: 'Robert', last_name: 'Smith', email: 'smith@gmail.com' };
    expect(align([{ lastName: 'Smith', email: 'smith@gmail.com' }], [person])).toEqual(['s by email']);
    expect(align([{ firstName: 'Bob', email: 'smith@gmail.com' }], [person])).toEqual(['s by email']);
  });

  it('a name in another script does not contradict', () =>
    expect(
      align(
        [{ name: 'Иван Петров', email: 'ivan@gmail.com' }],
        [{ id: 'i', name: 'Ivan Petrov', email: 'ivan@gmail.com' }],
      ),
    ).toEqual(['i by email']));

  it('a person with a blank id has no id, and needs an identifier', () =>
    expect(
      align(
        [ada, ben],
        [
          { ...adaPerson, id: ' ' },
          { ...benPerson, id: ' ' },
        ],
      ),
    ).toEqual(['  by email', 'identity_mismatch']));

  it('two people with identifiers of one row both lose it, however well a third person fits', () =>
    expect(
      align(
        [{ ...ada, profileUrl: 'linkedin.com/in/ada' }],
        [
          adaPerson,
          { id: 'p-2', name: 'Ada Novak', proflink_url: 'https://linkedin.com/in/ada' },
          { id: 'p-3', name: 'Ada Novak', organization: { name: 'Orbit' } },
        ],
      ),
    ).toEqual(['identity_mismatch']));

  it('one person goes to two rows that both have an identifier of the person', () =>
    expect(
      align(
        [ada, { profileUrl: 'linkedin.com/in/ada' }],
        [{ ...adaPerson, proflink_url: 'https://linkedin.com/in/ada' }, null],
      ),
    ).toEqual(['p-ada by email', 'p-ada by profile_url']));

  it("an address among the saved contact's addresses is evidence", () =>
    expect(
      align(
        [ben],
        [{ id: 'p-b', name: 'Ben Okoro', contact: { contact_emails: [{ email: 'BEN@gmail.com' }] } }],
      ),
    ).toEqual(['p-b by email']));

  it("a hashed address is compared with the hashes of the person's addresses", () => {
    for (const hashedEmail of emailHashes(adaPerson.email!)) {
      expect(align([{ hashedEmail }], [adaPerson])).toEqual(['p-ada by hashed_email']);
      expect(align([{ hashedEmail }], [stranger])).toEqual(['identity_mismatch']);
    }
  });
});

describe('without an agreeing identifier', () => {
  const row: Identity = { firstName: 'Zoë', lastName: 'Müller-Lang', organizationName: 'Acme Robotics' };

  it.each(cases.nameAndEmployer as [string, Person][])(
    'name and employer are enough without an identifier: %s',
    (_, person) => expect(align([row], [person])).toEqual(['z by name_and_organization']),
  );

  it('a namesake at another employer is another person', () =>
    expect(align([row], [{ id: 'z', name: 'Zoë Müller-Lang', organization: { name: 'Globex' } }])).toEqual([
      'identity_mismatch',
    ]));

  it('a namesake with another address at the same domain is another person', () => {
    const john: Identity = { name: 'John Smith', email: 'john.smith@acme.example' };
    const acme = { name: 'Acme', primary_domain: 'acme.example' };
    const other = { id: 'j2', name: 'John Smith', email: 'john.smith2@acme.example', organization: acme };
    expect(align([john], [other])).toEqual(['identity_mismatch']);
    expect(align([{ email: 'jsmith@acme.example' }], [other])).toEqual(['identity_mismatch']);
  });

  it('a namesake gets no row if another row has the same name and employer and another address', () => {
    const person = {
      id: 'p-1',
      name: 'Ada Novak',
      organization: { name: 'Orbit', primary_domain: 'orbit.example' },
    };
    const one = { firstName: 'Ada', lastName: 'Novak', organizationName: 'Orbit' };
    const other = { ...one, email: 'ada@fjord.example' };
    expect(align([one, other], [person])).toEqual(['identity_mismatch', 'identity_mismatch']);
  });

  it('a namesake is not given to a row that may as well be the colleague with an identifier', () => {
    const one = {
      id: 'z1',
      name: 'Zoë Müller-Lang',
      email: 'zoe@acme.example',
      organization: { name: 'Acme Robotics' },
    };
    const two = { id: 'z2', name: 'Zoë Müller-Lang', organization: { name: 'Acme Robotics' } };
    expect(align([{ ...row, email: 'zoe@acme.example' }, row], [one, two])).toEqual([
      'z1 by email',
      'identity_mismatch',
    ]);
  });

  it('a first name alone at the same employer is too little', () =>
    expect(
      align(
        [{ firstName: 'Zoë', email: 'zoe@gmail.com', organizationName: 'Acme Robotics' }],
        [{ id: 'z', first_name: 'Zoë', organization: { name: 'Acme Robotics' } }],
      ),
    ).toEqual(['identity_mismatch']));

  it('two namesakes who fit one row are given to neither', () => {
    const one = { id: 'z1', name: 'Zoë Müller-Lang', organization: { name: 'Acme Robotics' } };
    expect(align([row], [one, { ...one, id: 'z2' }])).toEqual(['identity_mismatch']);
  });

  it('one person who fits two rows is given to neither', () => {
    const person = { id: 'z', name: 'Zoë Lang', organization: { name: 'Acme Robotics' } };
    expect(align([row, { ...row, lastName: 'Lang' }], [person, null])).toEqual([
      'identity_mismatch',
      'identity_mismatch',
    ]);
  });

  it('the address of a row without a name can name the person, at their employer', () => {
    const person = { id: 'j', name: 'Jo Ferro', organization: { primary_domain: 'orbit.example' } };
    expect(align([{ email: 'jferro@orbit.example' }], [person])).toEqual(['j by email_names_person']);
    expect(align([{ email: 'jferro@other.example' }], [person])).toEqual(['identity_mismatch']);
    expect(align([{ email: 'jfe@orbit.example' }], [person])).toEqual(['identity_mismatch']);
  });
});

describe('a person of whom a part could not be read', () => {
  const partly: Person = { ...benPerson, isPartlyRead: true };

  it('a partly unread person is not accepted by name and employer, because the part could contradict', () => {
    expect(align([ben], [partly])).toEqual(['identity_mismatch']);
    expect(alignCall([ben], [partly]).quarantined).toEqual([
      { matchIndex: 0, reason: 'only an identifier could show that it is this person' },
    ]);
  });

  it('a partly unread person is accepted by an identifier', () =>
    expect(align([ben], [{ ...partly, email: 'ben@gmail.com' }])).toEqual(['p-ben by email']));
});

describe('a name alone', () => {
  const freelancer: Identity = { firstName: 'Ada', lastName: 'Novak', email: 'ada77@gmail.com' };
  const person: Person = { id: 'a', name: 'Ada Novak', organization: { name: 'Orbit' } };

  it('a name alone is accepted in no position of the answer', () => {
    const alignment = alignCall([freelancer, ben], [person, null]);
    expect(alignment.rows).toEqual([
      { outcome: 'identity_mismatch', reason: 'only the name agrees' },
      { outcome: 'not_found' },
    ]);
    expect(alignment.quarantined).toEqual([{ matchIndex: 0, reason: 'only the name agrees' }]);
    expect(align([ben, freelancer], [person, null])).toEqual(['not_found', 'identity_mismatch']);
  });

  it('a name is accepted with a free-mail address among the person’s personal addresses', () =>
    expect(align([freelancer], [{ ...person, personal_emails: ['x@gmail.com', 'Ada77@Gmail.com'] }])).toEqual(
      ['a by email'],
    ));

  it('a name is not accepted with a hash of an unknown address', () => {
    const [hashedEmail] = emailHashes('ada@old.example');
    const row: Identity = { firstName: 'Ada', lastName: 'Novak', hashedEmail: hashedEmail! };
    const known = { ...person, email: 'ada@orbit.example' };
    expect(align([row], [known])).toEqual(['identity_mismatch']);
    expect(align([{ ...row, organizationName: 'Orbit' }], [known])).toEqual(['a by name_and_organization']);
  });
});
