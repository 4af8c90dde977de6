import { expect, it } from 'vitest';
import { readSourceStatements } from '../../helpers/database/source-statements.ts';

const statements = readSourceStatements();

it('readSourceStatements() finds the raw statements of src', () => {
  expect(statements.length).toBeGreaterThan(250);
});

it('readSourceStatements() reads the columns of a named row type, with the type of each', () => {
  const pauses = statements.find(({ texts }) => texts[0]!.startsWith('\n    select scope, coalesce('));
  expect(pauses?.columns).toEqual({
    scope: { type: 'string', isOptional: false },
    seconds: { type: 'number', isOptional: false },
  });
});
