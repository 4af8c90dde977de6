// Has Prometheus' own tool read deploy/prometheus, and run the tests of the alerts (test/alerts) on its engine.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tests = readdirSync(`${root}/test/alerts`).map((name) => `test/alerts/${name}`);

promtool('check', 'rules', 'deploy/prometheus/alerts.yml');
promtool('check', 'config', '--syntax-only', 'deploy/prometheus/prometheus.yml');
promtool('test', 'rules', ...tests);

/** Ends this process where the tool is not there, or finds something wrong. */
function promtool(...words) {
  const { status, error } = spawnSync('promtool', words, { cwd: root, stdio: 'inherit' });
  if (error?.code === 'ENOENT') {
    console.error(
      'error: there is no promtool on the PATH\n' +
        '  next:  install Prometheus (https://prometheus.io/download); on Debian and Ubuntu, without a service of it:\n' +
        '         apt-get download prometheus && dpkg-deb -x prometheus_*.deb prometheus && PATH=$PWD/prometheus/usr/bin:$PATH',
    );
    process.exit(2);
  }
  if (error) throw error;
  if (status !== 0) process.exit(1);
}
