import { expect, it } from 'vitest';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';

it('identity keys include every identifier of a row, the e-mail first', () => {
  expect(
    identityKeys({
      email: 'ada@orbit.example',
      otherEmails: ['ada@gmail.com'],
      hashedEmail: 'ab',
      profileUrl: 'linkedin.com/in/ada',
      personId: '5f',
      name: 'Ada Novak',
      organizationName: 'Orbit',
    }),
  ).toEqual([
    'email:ada@orbit.example',
    'email:ada@gmail.com',
    'profile:linkedin.com/in/ada',
    'person:5f',
    'hash:ab',
  ]);
});

it('identity keys distinguish two colleagues who share a mailbox of their company', () => {
  const ada = identityKeys({ email: 'info@orbit.example', firstName: 'Ada', lastName: 'Novak' });
  const ben = identityKeys({ email: 'info@orbit.example', name: 'Ben Okoro' });
  expect(ada).not.toEqual(ben);
});

it('identity keys are the same for one colleague who is listed twice with a shared mailbox', () => {
  const once = identityKeys({ email: 'info@orbit.example', firstName: 'Ada', lastName: 'Novak' });
  const again = identityKeys({ email: 'info@orbit.example', name: 'ADA NOVÁK' });
  expect(once).toEqual(again);
});

it('identity keys are name and employer if there is no better identifier', () => {
  expect(identityKeys({ firstName: 'Ada', lastName: 'Novák', organizationName: 'Orbit, Ltd.' })).toEqual([
    'name:ada novak|orbit',
  ]);
  expect(identityKeys({ name: 'Ada Novak', domain: 'orbit.example' })).toEqual([
    'name:ada novak|orbit.example',
  ]);
});

it('identity keys have a maximum size, and long names still have different keys', () => {
  const long = '가'.repeat(300);
  const identity = { firstName: long, lastName: long, organizationName: long };
  const [key] = identityKeys(identity);
  const [shared] = identityKeys({ ...identity, email: 'info@orbit.example' });
  for (const each of [key!, shared!, identityKeys({ personId: '가'.repeat(500) })[0]!])
    expect(Buffer.byteLength(each)).toBeLessThan(2_000);
  expect(identityKeys({ ...identity, lastName: `${long.slice(1)}나` })).not.toEqual([key]);
});

it.each([
  {},
  { name: 'Ada Novak' },
  { firstName: 'Ada', organizationName: 'Orbit' },
  { organizationName: 'Orbit', domain: 'orbit.example' },
])('identity keys are empty for %j, which identifies no person', (identity) => {
  expect(identityKeys(identity)).toEqual([]);
});
