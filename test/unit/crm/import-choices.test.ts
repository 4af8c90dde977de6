import { expect, it } from 'vitest';
import { headersOfColumn, importers } from '../../../src/domain/crm/crm.ts';
import { headerKey } from '../../../src/domain/text/header-name.ts';
import { requireOwnSource } from '../../../src/cli/commands/export.ts';
import { readPolicyPairs } from '../../../src/domain/crm/field-policy.ts';

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

it.each(['dynamics365', 'generic', 'my-crm'])(
  'requireOwnSource() accepts the source %s for dynamics',
  (source) => {
    expect(() => requireOwnSource('dynamics', source)).not.toThrow();
  },
);

it.each([
  ['title', 'Contact: Title'],
  ['mobile_phone', 'Contact: Mobile'],
  ['city', 'Contact: Mailing City'],
  ['state', 'Contact: Mailing State/Province'],
] as const)('the field %s of Salesforce is found in reports of custom types as %s', (field, label) => {
  const headers = headersOfColumn(importers.salesforce.columns[field]!).map(headerKey);
  expect(headers).toContain(headerKey(label));
});
