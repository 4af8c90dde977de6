import { expect, it } from 'vitest';
import { namesNewEmployer } from '../../../src/domain/identity/names/organization-agreement.ts';

const move = {
  from: { name: 'Acme', domain: 'acme.example' },
  to: { name: 'Orbit Systems GmbH', domain: 'orbit-systems.example' },
};

it.each([
  [{ domain: 'orbit-systems.example' }],
  [{ organizationName: 'Acme', email: 'ada@acme.example', otherEmails: ['ada@orbit-systems.example'] }],
  [{ organizationName: 'Orbit Systems', email: 'ada@acme.example' }],
  [{ organizationName: 'orbitsystems' }],
])('namesNewEmployer() is true for cells with the name or domain of the new employer: %j', (cells) => {
  expect(namesNewEmployer(cells, move)).toBe(true);
});

it.each([
  [{}],
  [{ organizationName: 'Acme', domain: 'acme.example', email: 'ada@acme.example' }],
  [{ organizationName: 'Third', email: 'ada@gmail.com' }],
])('namesNewEmployer() is false for cells without the new employer: %j', (cells) => {
  expect(namesNewEmployer(cells, move)).toBe(false);
});

it('namesNewEmployer() ignores a company name that the former employer also has', () => {
  const alike = {
    from: { name: 'Acme GmbH', domain: 'acme.de' },
    to: { name: 'Acme Inc', domain: 'acme.com' },
  };
  expect(namesNewEmployer({ organizationName: 'Acme' }, alike)).toBe(false);
  expect(namesNewEmployer({ organizationName: 'Acme', email: 'ada@acme.com' }, alike)).toBe(true);
});
