import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { asUnusable, makeFolder } from '../../../src/files/make-folder.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const parent = temporaryFolder();

it('makeFolder() creates a folder and its parents, and keeps an existing one', () => {
  const path = join(parent, 'a', 'b', 'c');
  makeFolder(path);
  makeFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

it('asUnusable() turns an error of makeFolder() into a problem with the path and exit code 2', () => {
  let problem: unknown;
  try {
    makeFolder('/dev/null/data');
  } catch (error) {
    problem = asUnusable(error, '/dev/null/data');
  }
  expect(problem).toMatchObject({
    type: 'data-directory.unusable',
    message: expect.stringContaining('ENOTDIR'),
    where: '/dev/null/data',
    exitCode: 2,
  });
});
