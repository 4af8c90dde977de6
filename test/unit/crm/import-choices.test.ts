import { expect, it } from 'vitest';
import { headersOfColumn, importers } from '../../../src/domain/crm/importer.ts';
import { headerKey } from '../../../src/domain/text/header-name.ts';
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

it.each([
  [
    ['generic', 'hubspot'],
    'write --for hubspot for its contacts; or add --source generic, if its contact ids are record ids of Salesforce',
  ],
  [
    ['demo', 'events'],
    'add --source demo or --source events, if its contact ids are record ids of Salesforce',
  ],
  [['hubspot', 'dynamics365'], 'write --for hubspot or --for dynamics for its contacts'],
  [[], 'enrich an export first: enrich run FILE'],
])('sourcesInstead() names what can be exported from the sources %j', (sources, next) => {
  expect(sourcesInstead('salesforce', sources)).toBe(next);
});

it.each([
  ['title', 'Contact: Title'],
  ['mobile_phone', 'Contact: Mobile'],
  ['city', 'Contact: Mailing City'],
  ['state', 'Contact: Mailing State/Province'],
] as const)('the field %s of Salesforce is found in reports of custom types as %s', (field, label) => {
  const headers = headersOfColumn(importers.salesforce.columns[field]!).map(headerKey);
  expect(headers).toContain(headerKey(label));
});
