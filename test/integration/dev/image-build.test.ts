import { cpSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const image = temporaryFolder();

const admitted = readFileSync(join(root, '.dockerignore'), 'utf8')
  .split('\n')
  .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
/** The files of the project that the COPY lines of the first stage name. */
const copied = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^COPY (?!--from)(.*) \S+$/gm)]
  .flatMap((match) => match[1]!.split(' '))
  .filter((name) => admitted.includes(name));

it('the image is built only from files that the Dockerfile copies', async () => {
  for (const name of copied) cpSync(join(root, name), join(image, name), { recursive: true });
  const input = [
    'src/cli/main.ts',
    'workflows/index.ts',
    'workflows/encoded-failures.ts',
    'scripts/build.mjs',
  ];

  // rolldown follows every import, as the build does; the build takes fifty times the processor time.
  const bundle = await rolldown({
    cwd: image,
    input: input.map((name) => join(image, name)),
    external: (id) => !/^[./]/.test(id),
    platform: 'node',
    logLevel: 'silent',
  });
  await bundle.generate();
  const read = await bundle.watchFiles;

  expect(read.map((file) => relative(image, file))).toEqual(expect.arrayContaining(input));
  for (const name of ['tsconfig.json', 'package.json', 'package-lock.json', '.npmrc'])
    expect(copied).toContain(name);
});
