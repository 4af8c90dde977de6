import { expect, it } from 'vitest';
import { describeDatabaseFailure } from '../../../src/db/postgres-errors.ts';

it.each([
  ['28P01', 'database.login-refused', 2],
  ['3D000', 'database.missing', 2],
  ['25006', 'database.read-only', 1],
  ['ECONNREFUSED', 'database.unreachable', 1],
])('the database failure %s is a %s with exit code %i', (code, type, exitCode) => {
  const error = Object.assign(new Error('refused'), { code });
  expect(describeDatabaseFailure(error, 'postgres://ada:secret@db/warehouse')).toMatchObject({
    type,
    exitCode,
    where: 'postgres://ada@db/warehouse',
  });
});
