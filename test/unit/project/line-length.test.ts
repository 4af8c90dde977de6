import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const longest = 120;

const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).map((entry) =>
    relative(root, join(entry.parentPath, entry.name)),
  );

/** A regular expression cannot be broken over lines. */
const regularExpression = /^\s*\/.*\/[a-z]*[;,]$/;

it('no line of code, comments and SQL exceeds 120 characters, except regular expressions', () => {
  const tooLong = ['src', 'workflows', 'activities', 'scripts', 'test']
    .flatMap(filesOf)
    .filter((file) => /\.(?:ts|mjs)$/.test(file) && !file.startsWith('test/histories'))
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          line.length > longest && !regularExpression.test(line) ? [`${file}:${index + 1}`] : [],
        ),
    );
  expect(tooLong).toEqual([]);
});

it('no line of prose exceeds 120 characters, except tables and commands', () => {
  const tooLong = [...readdirSync(root), ...filesOf('docs'), ...filesOf('deploy')]
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => {
      const prose = readFileSync(join(root, file), 'utf8').replaceAll(/^ *```[^]*?^ *```/gm, '');
      return prose
        .split('\n')
        .flatMap((line) => (line.length > longest && !line.startsWith('|') ? [`${file}: ${line}`] : []));
    });
  expect(tooLong).toEqual([]);
});
