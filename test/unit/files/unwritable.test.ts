import { expect, it } from 'vitest';
import { asUnwritable } from '../../../src/files/write-whole-file.ts';

it.each([
  ['ENOENT', 2, 'in an existing folder'],
  ['EACCES', 2, 'that this user may write to'],
  ['EISDIR', 2, 'name a path'],
  ['ENOSPC', 1, 'free space on the disk'],
  ['EDQUOT', 1, 'free space on the disk'],
  ['EIO', 1, 'name a path'],
])('asUnwritable() of %s ends a command with exit code %i, and advises: %s', (code, exitCode, next) => {
  const error = Object.assign(new Error(), { code, syscall: 'open' });
  expect(asUnwritable(error, 'the file', 'a.csv')).toMatchObject({
    message: expect.stringMatching(new RegExp(`^the file cannot be written: [a-z -]{5,} \\(${code}\\)$`)),
    exitCode,
    next: expect.stringContaining(next),
  });
});

it.each([
  ['has no code', {}],
  ['is the lost connection of the database that gives the rows', { code: 'ECONNRESET', syscall: 'read' }],
])('asUnwritable() leaves an error as it is that %s', (_, fields) => {
  const error = Object.assign(new Error('failed'), fields);
  expect(asUnwritable(error, 'the file', 'a.csv')).toBe(error);
});
