import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { writeWholeFile } from '../../../src/files/write-whole-file.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const folder = temporaryFolder();

describe('writeWholeFile()', () => {
  it('writeWholeFile() replaces an earlier file and leaves nothing beside it', async () => {
    const path = join(folder, 'contacts.csv');
    writeFileSync(path, 'old');
    await writeWholeFile(Readable.from(['new']), path);
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(readdirSync(folder)).toEqual(['contacts.csv']);
  });

  it('writeWholeFile() writes into a pipe or device without replacing it', async () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const [read] = await Promise.all([readFile(path, 'utf8'), writeWholeFile(Readable.from(['rows']), path)]);
    expect(read).toBe('rows');
    expect(lstatSync(path).isFIFO()).toBe(true);
  });

  it('writeWholeFile() refuses a path whose folder does not exist as wrong usage, and names the path', async () => {
    const path = join(folder, 'missing', 'contacts.csv');
    await expect(writeWholeFile(Readable.from(['rows']), path)).rejects.toMatchObject({
      type: 'output.unwritable',
      where: path,
      exitCode: 2,
    });
  });
});
