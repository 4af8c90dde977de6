import { expect, it } from 'vitest';
import { asUnwritable } from '../../../src/files/unwritable.ts';

it.each([
  ['ENOENT', 2],
  ['EACCES', 2],
  ['EISDIR', 2],
  ['ENOSPC', 1],
  ['EIO', 1],
])('asUnwritable() of %s ends a command with exit code %i', (code, exitCode) => {
  const error = Object.assign(new Error(), { code, syscall: 'open' });
  expect(asUnwritable(error, 'the file', 'a.csv')).toMatchObject({
    message: `the file cannot be written (${code})`,
    exitCode,
  });
});

it.each([
  ['has no code', {}],
  ['is the lost connection of the database that gives the rows', { code: 'ECONNRESET', syscall: 'read' }],
])('asUnwritable() leaves an error as it is that %s', (_, fields) => {
  const error = Object.assign(new Error('failed'), fields);
  expect(asUnwritable(error, 'the file', 'a.csv')).toBe(error);
});
