import { expect, it } from 'vitest';
import {
  decideField,
  defaultPolicies,
  keepLocationTogether,
  type DecidedField,
  type FieldFacts,
} from '../../../src/domain/crm/field-policy.ts';
import { importers, type ImportColumn } from '../../../src/domain/crm/crm.ts';
import { sameValue } from '../../../src/domain/crm/same-value.ts';
import { headerKey } from '../../../src/domain/text/header-name.ts';

const facts: FieldFacts = {
  hasCells: true,
  theirs: '',
  ours: 'Head of Data',
  observedAt: new Date('2026-11-20T00:00:00Z'),
  modifiedAt: new Date('2026-11-01T00:00:00Z'),
  isVerified: false,
  isDoNotCall: false,
  hasChangedJob: false,
};
const column = { column: { header: 'Title', longest: 20 }, erasingCell: '#N/A' };

it("decideField() with overwrite-older keeps the CRM's value if the export has no modified time", () => {
  const unknown = { ...facts, theirs: 'Analyst', modifiedAt: null };
  expect(decideField('title', 'overwrite-older', unknown, column)).toBe('kept');
});

it.each([
  ['a value that is longer than the field', { ours: 'x'.repeat(21) }, {}, 'refused: too long'],
  [
    'a value that the importer reads as "erase this field"',
    { ours: '#N/A' },
    {},
    'refused: erases the field',
  ],
  ['a phone number on a do-not-call list', { isDoNotCall: true }, {}, 'refused: do not call'],
  ['a field that accepts only listed values', {}, { listedValues: true as const }, 'refused: listed values'],
] as const)('decideField() refuses %s', (_, change, more, decision) => {
  const target = { ...column, column: { ...column.column, ...more } };
  expect(decideField('phone', 'fill', { ...facts, ...change }, target)).toBe(decision);
});

it('decideField() writes nothing into a column that the export did not have', () => {
  expect(decideField('title', 'fill', { ...facts, theirs: undefined }, column)).toBe('not in the export');
  const removed = { ...facts, theirs: undefined, hasCells: false };
  expect(decideField('title', 'overwrite-if-verified', removed, column)).toBe('cells removed');
});

it('decideField() after a job change keeps the title of the CRM, but fills an empty city', () => {
  const moved = { ...facts, theirs: 'Analyst', hasChangedJob: true };
  expect(decideField('title', 'overwrite-older', moved, column)).toBe('job change');
  expect(decideField('city', 'fill', { ...facts, hasChangedJob: true }, column)).toBe('filled');
});

it.each([
  ['phone', '(212) 555-0152 x12', '+12125550152'],
  ['phone', '030 1234567', '+49 30 1234567'],
  ['mobile_phone', '0044 20 7946 0958', '+442079460958'],
  ['email', 'Ada.Novak@Acme.Example', 'ada.novak@acme.example'],
  ['linkedin_url', 'https://www.linkedin.com/in/ada/', 'linkedin.com/in/ada'],
  ['organization_name', 'ACME', 'Acme Inc.'],
  ['city', 'Zürich', 'Zurich'],
  ['country', 'Deutschland', 'Germany'],
  ['country', 'USA', 'United States'],
  ['country', 'gb', 'United Kingdom'],
  ['country', '日本', 'Japan'],
  ['country', 'TÜRKİYE', 'Turkey'],
] as const)('sameValue() treats two spellings of a %s as the same', (field, one, other) => {
  expect(sameValue(field, one, other)).toBe(true);
});

it('sameValue() compares cells of thousands of spaces without delay', { timeout: 1_000 }, () =>
  expect(sameValue('phone', `1${' '.repeat(5_000)}a`, '+12125550153')).toBe(false),
);

it('sameValue() treats two different numbers as different', () =>
  expect(sameValue('phone', '+12125550152', '+12125550153')).toBe(false));

it('defaultPolicies never write an e-mail', () => expect(defaultPolicies.email).toBe('never'));

it.each(Object.entries(importers))('no header of the importer %s belongs to two fields', (_, importer) => {
  const { columns, idHeader, idInOtherLanguages } = importer;
  const fields = Object.values<ImportColumn>(columns).map(
    ({ header, alsoExportedAs, inOtherLanguages }) =>
      new Set([header, ...alsoExportedAs, ...inOtherLanguages].map(headerKey)),
  );
  const keys = [
    ...new Set([idHeader, ...idInOtherLanguages].map(headerKey)),
    ...fields.flatMap((each) => [...each]),
  ];
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});

const city: DecidedField = { field: 'city', decision: 'filled', theirs: '', ours: 'Toronto' };
const state: DecidedField = { field: 'state', decision: 'filled', theirs: '', ours: 'Ontario' };

function decisionsOf(fields: readonly DecidedField[]): string[] {
  return keepLocationTogether(fields).map(({ decision }) => decision);
}

it.each([
  ['kept', 'Norway', 'Canada'],
  ['refused: listed values', 'Norway', 'Canada'],
  ['nothing known', 'Norway', null],
] as const)(
  'keepLocationTogether() writes no city and no state if the decision about the country is "%s"',
  (decision, theirs, ours) => {
    const decided = decisionsOf([city, state, { field: 'country', decision, theirs, ours }]);
    expect(decided).toEqual(['other place', 'other place', decision]);
  },
);

it.each([
  ['ON', 'filled'],
  ['BC', 'other place'],
  ['Alberta', 'other place'],
] as const)(
  'keepLocationTogether() with the CRM state %s and our state Ontario: the city is %s',
  (theirs, decision) => {
    expect(decisionsOf([city, { ...state, decision: 'kept', theirs }])).toEqual([decision, 'kept']);
  },
);
