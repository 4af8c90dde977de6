import { expect, it } from 'vitest';
import { readPerson } from '../../../src/service/answers/bulk-answer.ts';
import documented from './documented-fields.json' with { type: 'json' };
import cases from '../../data/service/answered-person.json' with { type: 'json' };

const examples: Record<string, unknown> = {
  text: 'text',
  number: 7,
  flag: false,
  texts: ['text'],
  map: { a: 'text' },
  objects: [{ a: 'text' }],
  any: 'whatever it will be',
};

/** Fills the documented fields of an object, each with a value of the documented type. */
function filled(fields: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([type, names]) =>
      names.split(' ').map((name) => [name, examples[type]] as const),
    ),
  );
}

const { person, employment_history, contact, contact_emails, organization, account } = documented;
const whole = {
  ...filled(person),
  employment_history: [filled(employment_history)],
  contact: { ...filled(contact), contact_emails: [filled(contact_emails)] },
  organization: filled(organization),
  account: filled(account),
};

function read(element: unknown) {
  const result = readPerson(element);
  return 'unreadable' in result
    ? result
    : { person: result.person as object, unread: [...result.unread].sort() };
}

it('readPerson() keeps every field that the interface document names', () => {
  expect(read(whole)).toEqual({ person: whole, unread: [] });
});

it('readPerson() leaves out fields that the interface document does not name', () => {
  expect(read({ id: 'p1', new_field: 1, organization: { name: 'Orbit', other: 2 } })).toEqual({
    person: { id: 'p1', organization: { name: 'Orbit' } },
    unread: [],
  });
});

it('readPerson() leaves out nulls at every level', () => {
  const named = { id: null, name: 'Mira', contact: { email: null, contact_roles: [null, { a: null }] } };
  expect(read(named)).toMatchObject({ person: { name: 'Mira', contact: { contact_roles: [{}] } } });
});

it.each(cases.refused as [number | unknown[] | object, string][])(
  'readPerson() refuses %j with identifying data of the wrong type, and does not quote it',
  (element, reason) => {
    expect(read(element)).toEqual({ unreadable: reason });
  },
);

it.each(cases.otherTypes as [object, string[], object][])(
  'readPerson() leaves out fields of the wrong type, and names them: %j',
  (fields, unread, left) => {
    expect(read({ id: 'p1', ...fields })).toEqual({ person: { id: 'p1', ...left }, unread });
  },
);

it.each([[''], [' '], [[]], [{}], [false]])(
  'readPerson() reads %j as null where another type belongs',
  (nothing) => {
    const fields = { contact: nothing, organization: nothing, departments: nothing, contact_id: nothing };
    expect(read(fields)).toMatchObject({ unread: [] });
  },
);

it('readPerson() reads a number that is written as text, up to 15 digits', () => {
  const texts = {
    estimated_num_employees: '1200',
    annual_revenue: '-0.5',
    total_funding: '1234567890123456',
  };
  expect(read({ organization: texts })).toEqual({
    person: { organization: { estimated_num_employees: 1200, annual_revenue: -0.5 } },
    unread: ['organization.total_funding'],
  });
});
