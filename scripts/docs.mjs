// Builds the web site of docs/. With --serve, it shows the site and rebuilds it when pages change.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const site = fileURLToPath(new URL('../site', import.meta.url));

// The site has its own package.json, so that `npm ci` of the product does not install VitePress.
if (modified('node_modules/.package-lock.json') < modified('package-lock.json')) {
  console.log('installing VitePress (npm ci in site, about 120 MB)');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}
if (process.argv.includes('--serve')) run('npm', ['exec', 'vitepress', 'dev']);
else {
  run('npm', ['exec', 'vitepress', 'build']);
  console.log(`The site is in ${join(site, 'dist/html')}. npm run docs -- --serve shows it.`);
}

function run(command, parameters) {
  const { status } = spawnSync(command, parameters, {
    cwd: site,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

function modified(name) {
  const file = join(site, name);
  return existsSync(file) ? statSync(file).mtimeMs : 0;
}
