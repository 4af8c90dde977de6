import { expect, it } from 'vitest';
import { readSourceStatements } from '../../helpers/source-statements.ts';

const statements = readSourceStatements();

it('readSourceStatements() finds the raw statements of src', () => {
  expect(statements.length).toBeGreaterThan(250);
});

it('readSourceStatements() reads the columns of a named row type, with the type of each', () => {
  const state = statements.find(({ texts }) => texts[0]!.includes('count(*)::int as notifications'));
  expect(state?.columns).toEqual({ notifications: { type: 'number', isOptional: false } });
});
