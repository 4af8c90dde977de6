import { expect, it } from 'vitest';
import { toDetail } from '../../../src/service/client.ts';

it('toDetail() gives every field its name in the service interface', () => {
  expect(
    toDetail({
      personId: 'p1',
      email: 'mira@lindqvist.example',
      hashedEmail: 'd41d8cd98f00b204e9800998ecf8427e',
      profileUrl: 'linkedin.com/in/mira',
      firstName: 'Mira',
      lastName: 'Lindqvist',
      name: 'Mira Lindqvist',
      organizationName: 'Nordlys',
      domain: 'nordlys.example',
    }),
  ).toEqual({
    id: 'p1',
    email: 'mira@lindqvist.example',
    hashed_email: 'd41d8cd98f00b204e9800998ecf8427e',
    proflink_url: 'https://linkedin.com/in/mira',
    first_name: 'Mira',
    last_name: 'Lindqvist',
    name: 'Mira Lindqvist',
    organization_name: 'Nordlys',
    domain: 'nordlys.example',
  });
});

it('toDetail() sends only the fields that the row has', () => {
  expect(Object.keys(toDetail({ email: 'mira@lindqvist.example' }))).toEqual(['email']);
});

it('toDetail() sends one of several e-mails', () => {
  const detail = toDetail({ email: 'a@lindqvist.example', otherEmails: ['b@lindqvist.example'] });
  expect(JSON.stringify(detail)).not.toContain('b@');
});
