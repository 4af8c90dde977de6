import { expect, it } from 'vitest';
import { identityHashOfRecord } from '../../../src/people/decisions/contact-decisions.ts';
import type { Identity } from '../../../src/domain/identity/identity.ts';

const record: Identity = {
  firstName: 'Ada',
  lastName: 'Novak',
  email: 'ada@orbit.example',
  otherEmails: ['info@orbit.example'],
  organizationName: 'Orbit',
};

it.each<[string, Identity]>([
  ['employer', { ...record, organizationName: 'Vega', domain: 'vega.example' }],
  ['letter case in the name', { ...record, firstName: 'ADA' }],
  [
    'split of the name over columns',
    { email: record.email!, otherEmails: record.otherEmails!, name: 'Ada Novak' },
  ],
  ['order of e-mails', { ...record, email: 'info@orbit.example', otherEmails: ['ada@orbit.example'] }],
])(
  'identityHashOfRecord() is unchanged, so a decision remains, when a record gets another %s',
  (_, changed) => {
    expect(identityHashOfRecord(changed)).toBe(identityHashOfRecord(record));
  },
);

it.each<[string, Identity]>([
  ['first name', { ...record, firstName: 'Eva' }],
  ['e-mail', { ...record, email: 'eva@orbit.example' }],
  ['shared mailbox', { ...record, otherEmails: ['sales@orbit.example'] }],
  ['profile', { ...record, profileUrl: 'linkedin.com/in/ada' }],
  ['id at the service', { ...record, personId: 'p-1' }],
])('identityHashOfRecord() changes, so a decision ends, when a record gets another %s', (_, changed) => {
  expect(identityHashOfRecord(changed)).not.toBe(identityHashOfRecord(record));
});
