import { expect, it } from 'vitest';
import { requireOwnSource, sourcesInstead } from '../../../src/domain/crm/other-sources.ts';
import { readPolicyPairs } from '../../../src/domain/crm/read-policies.ts';

it('readPolicyPairs() reads a policy for each field, with blanks around its parts', () => {
  expect(readPolicyPairs('title = overwrite-older, email=fill')).toMatchObject({
    title: 'overwrite-older',
    email: 'fill',
    phone: 'fill',
  });
});

it.each(['title', 'title=', '=fill', 'title=fill=never', ''])(
  'readPolicyPairs() asks for FIELD=POLICY when it reads "%s"',
  (text) => {
    expect(() => readPolicyPairs(text)).toThrow(`"${text}" is not FIELD=POLICY`);
  },
);

it('requireOwnSource() refuses contacts of another CRM, whose record ids belong to other records', () => {
  expect(() => requireOwnSource('pipedrive', 'hubspot')).toThrow(
    'contacts of hubspot have no record ids of Pipedrive',
  );
});

it.each([undefined, 'dynamics365', 'generic', 'my-crm'])(
  'requireOwnSource() accepts the source %s for dynamics',
  (source) => {
    expect(() => requireOwnSource('dynamics', source)).not.toThrow();
  },
);

it('sourcesInstead() names only sources that may have record ids of the CRM', () => {
  expect(sourcesInstead('salesforce', ['generic', 'hubspot'])).toBe(
    'add --source generic, if its contact ids are record ids of Salesforce',
  );
});

it('sourcesInstead() names the importers of other CRMs when the warehouse has only their contacts', () => {
  expect(sourcesInstead('salesforce', ['hubspot', 'dynamics365'])).toBe(
    'write --for hubspot or dynamics for the contacts of the warehouse',
  );
});
