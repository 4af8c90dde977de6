import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const image = mkdtempSync(join(tmpdir(), 'enrich-image-'));
afterAll(() => rmSync(image, { recursive: true, force: true }));

const admitted = readFileSync(join(root, '.dockerignore'), 'utf8')
  .split('\n')
  .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
/** What `COPY a b there` of the first stage copies from the project. */
const copied = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^COPY (?!--from)(.*) \S+$/gm)]
  .flatMap((match) => match[1]!.split(' '))
  .filter((name) => admitted.includes(name));

it('the image is built only from files that the Dockerfile copies', () => {
  for (const name of copied) cpSync(join(root, name), join(image, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(image, 'node_modules'));

  const build = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: image, encoding: 'utf8' });

  expect(build.stderr).toMatch(/Built in/);
  for (const made of ['cli/main.js', 'cli/workflow-thread.js', 'workflow-bundle.js'])
    expect(existsSync(join(image, 'dist', made))).toBe(true);
});
