import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Creates a virtual environment with these packages in dist, once. Ends this process with 0 if Python 3 with venv and
 * pip is missing, or if PyPI is unreachable.
 *
 * @returns the folder with the commands of the environment
 */
export function pythonEnvironment(name, packages) {
  const folder = fileURLToPath(new URL(`../dist/.${name}`, import.meta.url));
  const installed = join(folder, 'installed');
  const wanted = packages.join(' ');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return join(folder, 'bin');
  rmSync(folder, { recursive: true, force: true });
  console.error(`Installing ${packages.join(', ')} into ${folder}`);
  const steps = [
    ['python3', ['-m', 'venv', folder]],
    [join(folder, 'bin', 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages]],
  ];
  const isInstalled = steps.every(
    ([program, parameters]) => spawnSync(program, parameters, { stdio: ['ignore', 2, 2] }).status === 0,
  );
  if (!isInstalled) {
    console.error('skipped: Python 3 with venv and pip is missing, or PyPI cannot be reached (see above)');
    process.exit(0);
  }
  writeFileSync(installed, wanted);
  return join(folder, 'bin');
}
