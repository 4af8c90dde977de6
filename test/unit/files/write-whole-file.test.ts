import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { asUnwritable, requireReplaceable, writeWholeFile } from '../../../src/files/write-whole-file.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const folder = temporaryFolder();

it('writeWholeFile() always leaves a complete file, even if two commands write it at once', async () => {
  const path = join(folder, 'twice.csv');
  let resume = (): void => {};
  const resumed = new Promise<void>((resolve) => (resume = resolve));
  const slow = async function* (): AsyncGenerator<string> {
    yield 'slow, ';
    await resumed;
    yield 'slow';
  };
  const first = writeWholeFile(Readable.from(slow()), path);
  await expect.poll(() => readdirSync(folder).join()).toContain('twice.csv');
  await writeWholeFile(Readable.from(['quick']), path);
  expect(readFileSync(path, 'utf8')).toBe('quick');
  resume();
  await first;
  expect(readFileSync(path, 'utf8')).toBe('slow, slow');
  expect(readdirSync(folder).filter((name) => name.includes('twice'))).toEqual(['twice.csv']);
});

it('writeWholeFile() leaves no incomplete file when a signal ends the process', async () => {
  const before = process.listeners('exit');
  const ended = new Promise<never>(() => {});
  const endless = async function* (): AsyncGenerator<string> {
    yield 'personal data';
    yield await ended;
  };
  void writeWholeFile(Readable.from(endless()), join(folder, 'never.csv'));
  const incomplete = (): string[] => readdirSync(folder).filter((name) => name.includes('never'));
  await expect.poll(incomplete).toHaveLength(1);
  for (const listener of process.listeners('exit').filter((each) => !before.includes(each))) {
    listener(130);
    process.off('exit', listener);
  }
  expect(incomplete()).toEqual([]);
});

it('writeWholeFile() writes into a pipe or device without replacing it', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const [read] = await Promise.all([readFile(path, 'utf8'), writeWholeFile(Readable.from(['rows']), path)]);
  expect(read).toBe('rows');
  expect(lstatSync(path).isFIFO()).toBe(true);
});

it('requireReplaceable() refuses a file that has content and does not begin like the new file', async () => {
  const path = join(folder, 'existing.csv');
  const header = 'source,contact_id\n';
  await requireReplaceable(path, header);
  for (const text of ['', header, `${header}hubspot,1\n`]) {
    writeFileSync(path, text);
    await requireReplaceable(path, header);
  }
  for (const text of ['Record ID,Email\n1,ada@x.example\n', 'source', 'source,contact_id,email\n']) {
    writeFileSync(path, text);
    await expect(requireReplaceable(path, header)).rejects.toMatchObject({
      type: 'output.exists',
      exitCode: 2,
    });
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
});

it.each([
  ['ENOENT', 2, 'in an existing folder'],
  ['EACCES', 2, 'that this user may write to'],
  ['EISDIR', 2, 'name a path'],
  ['ENOSPC', 1, 'free space on the disk'],
  ['EDQUOT', 1, 'free space on the disk'],
  ['EIO', 1, 'name a path'],
])('asUnwritable() of %s gives exit code %i and the advice: %s', (code, exitCode, next) => {
  const error = Object.assign(new Error(), { code, syscall: 'open' });
  expect(asUnwritable(error, 'the file', 'a.csv')).toMatchObject({
    message: expect.stringMatching(new RegExp(`^the file cannot be written: [a-z -]{5,} \\(${code}\\)$`)),
    exitCode,
    next: expect.stringContaining(next),
  });
});

it.each([
  ['has no code', {}],
  [
    'comes from a lost connection to the database that delivers the rows',
    { code: 'ECONNRESET', syscall: 'read' },
  ],
])('asUnwritable() returns an error unchanged if the error %s', (_, fields) => {
  const error = Object.assign(new Error('failed'), fields);
  expect(asUnwritable(error, 'the file', 'a.csv')).toBe(error);
});
