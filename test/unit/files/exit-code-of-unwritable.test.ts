import { expect, it } from 'vitest';
import { exitCodeOfUnwritable } from '../../../src/files/exit-code-of-unwritable.ts';

it.each([
  ['ENOENT', 2],
  ['EACCES', 2],
  ['EISDIR', 2],
  ['ENOSPC', 1],
  ['EIO', 1],
])('an output that cannot be written because of %s ends with exit code %i', (code, exitCode) => {
  expect(exitCodeOfUnwritable(code)).toBe(exitCode);
});
