import { describe, expect, it } from 'vitest';
import { personFieldGroups } from '../../../src/domain/identity/person-columns.ts';
import { contactFields } from '../../../src/domain/identity/field-groups.ts';

describe('what an answer puts into a contact', () => {
  it.each(['email_not_unlocked@domain.com', 'not an address', ''])(
    '%j is no address, and has no status',
    (email) =>
      expect(contactFields({ email, email_status: 'unavailable' })).toMatchObject({
        email: null,
        email_status: null,
      }),
  );

  it('an address is written as it is compared', () =>
    expect(contactFields({ email: ' Jane@Orbit.example', email_status: 'verified' })).toMatchObject({
      email: 'jane@orbit.example',
      email_status: 'verified',
    }));

  it('a person of whom nothing is said leaves every column alone', () =>
    expect(Object.values(contactFields({})).filter((value) => value !== null)).toEqual([]));

  it('texts lose what a text column refuses, and empty ones say nothing', () =>
    expect(contactFields({ title: 'VP\u0000 Sales', headline: ' ', departments: [] })).toMatchObject({
      title: 'VP Sales',
      headline: null,
      departments: null,
    }));

  it.each([1.5, -1, 2 ** 31, Number.NaN])('%d is no number of employees', (number) =>
    expect(
      contactFields({ organization: { estimated_num_employees: number } }).organization_employees,
    ).toBeNull(),
  );

  it('the domain of the organization is taken from its site where it has no other', () =>
    expect(contactFields({ organization: { website_url: 'http://www.orbit.co.uk/about' } })).toMatchObject({
      organization_domain: 'orbit.co.uk',
    }));

  it('every column belongs to one group', () =>
    expect(Object.values(personFieldGroups).flatMap(({ columns }) => Object.keys(columns))).toEqual(
      expect.arrayContaining(Object.keys(contactFields({}))),
    ));
});
