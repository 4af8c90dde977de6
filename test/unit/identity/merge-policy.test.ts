import { expect, it } from 'vitest';
import { personFieldGroups } from '../../../src/domain/warehouse/person-columns.ts';
import { contactFields } from '../../../src/domain/warehouse/contact-fields.ts';

it.each(['email_not_unlocked@domain.com', 'not an address', ''])(
  'a contact gets no e-mail and no e-mail status from the e-mail %j',
  (email) =>
    expect(contactFields({ email, email_status: 'unavailable' })).toMatchObject({
      email: null,
      email_status: null,
    }),
);

it.each([
  ['https://www.linkedin.com/in/ada-lind/?trk=x#top', 'https://www.linkedin.com/in/ada-lind/'],
  ['https://www.linkedin.com/profile/view?id=5', 'https://www.linkedin.com/profile/view?id=5'],
])('a profile URL of a contact is stored without tracking parameters: %s', (stated, linkedin) =>
  expect(contactFields({ proflink_url: stated }).linkedin_url).toBe(linkedin),
);

it('contactFields() removes NUL characters from text, and returns null for blank text and empty lists', () =>
  expect(contactFields({ title: 'VP\u0000 Sales', headline: ' ', departments: [] })).toMatchObject({
    title: 'VP Sales',
    headline: null,
    departments: null,
  }));

it.each([1.5, -1, 2 ** 31, Number.NaN])('%d is not a valid number of employees', (number) =>
  expect(
    contactFields({ organization: { estimated_num_employees: number } }).organization_employees,
  ).toBeNull(),
);

it.each([undefined, null, '', 'not a domain', 'facebook.com/orbit'])(
  'the domain of an organization comes from its website URL if its primary domain is %j',
  (domain) =>
    expect(
      contactFields({
        organization: { primary_domain: domain, website_url: 'http://www.orbit.co.uk/about' },
      }),
    ).toMatchObject({ organization_domain: 'orbit.co.uk' }),
);

it('every column of a contact belongs to a field group', () =>
  expect(Object.values(personFieldGroups).flatMap((columns) => Object.keys(columns))).toEqual(
    expect.arrayContaining(Object.keys(contactFields({}))),
  ));
