// Checks deploy/prometheus with Prometheus' promtool, and runs the tests of the alerts in test/alerts.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tests = readdirSync(`${root}/test/alerts`).map((name) => `test/alerts/${name}`);

promtool('check', 'rules', 'deploy/prometheus/alerts.yml');
promtool('check', 'config', '--syntax-only', 'deploy/prometheus/prometheus.yml');
promtool('test', 'rules', ...tests);

/** Runs promtool. If promtool is missing or finds a mistake, this process ends. */
function promtool(...parameters) {
  const { status, error } = spawnSync('promtool', parameters, { cwd: root, stdio: 'inherit' });
  if (error?.code === 'ENOENT') {
    console.error(
      'error: promtool is not on the PATH\n' +
        '  next:  install Prometheus (https://prometheus.io/download); on Debian and Ubuntu, without its service:\n' +
        '         apt-get download prometheus && dpkg-deb -x prometheus_*.deb prometheus\n' +
        '         PATH=$PWD/prometheus/usr/bin:$PATH',
    );
    process.exit(2);
  }
  if (error) throw error;
  if (status !== 0) process.exit(1);
}
