import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { projectFile } from '../../src/files/project-file.ts';

const { scripts } = JSON.parse(readFileSync(projectFile('package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const benchmarks = Object.keys(scripts).filter((name) => name.startsWith('bench:'));

// Node finds other names in a CommonJS package than vitest does, and no other test runs the benchmarks.
it.each(benchmarks)('%s loads in Node, and refuses an unknown option', (name) => {
  const file = /\S+\.js$/.exec(scripts[name]!)![0];
  const { stderr } = spawnSync(process.execPath, [file, '--unknown'], {
    cwd: projectFile('.'),
    encoding: 'utf8',
  });
  expect(stderr).toContain("Unknown option '--unknown'");
});
