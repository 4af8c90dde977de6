import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.mjs';

/** Additions to docker-compose.yml: an image for this check, and the sandbox, which listens only on 127.0.0.1. */
const overrides = `
services:
  worker: { image: 'enrich:check', build: { labels: { release: '\${RELEASE:-1}' } } }
  cli: { image: 'enrich:check' }
  receiver: { image: 'enrich:check' }
  sandbox:
    image: enrich:check
    pull_policy: never
    init: true
    entrypoint: [sh, -c]
    command:
      - |
        node -e "
          const net = require('net');
          const forward = (from) => {
            const to = net.connect(8651, '127.0.0.1');
            from.pipe(to).pipe(from);
            from.on('error', () => to.destroy());
            to.on('error', () => from.destroy());
          };
          net.createServer(forward).listen(8650, '0.0.0.0');" &
        exec enrich sandbox --port 8651 --rate-limits 600/10s --late-delay 3000
`;
const project = 'enrich-check';
const ports = ['RECEIVER_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT', 'PROMETHEUS_PORT', 'GRAFANA_PORT'];

/** Returns why this machine cannot start a stack. Undefined if it can. */
export function missingEngine() {
  if (spawnSync('docker', ['compose', 'version']).status !== 0) return '"docker compose" is missing';
  if (spawnSync('docker', ['info']).status !== 0) return 'no container engine answers "docker info"';
  return undefined;
}

/**
 * The stack of docker-compose.yml as a separate project in a copy of the checkout, so that the files, volumes and
 * images of an operator on this machine stay untouched.
 */
export class ComposeStack {
  release = 1;
  #directory;
  #files;

  /**
   * @param {string} root folder of the checkout
   * @param {string
   * undefined} standIns path of a compose file that replaces images
   */
  static async prepare(root, standIns) {
    const directory = mkdtempSync(join(tmpdir(), 'enrich-stack-'));
    const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
    });
    for (const path of listed.stdout.toString().split('\0').filter(Boolean))
      cpSync(join(root, path), join(directory, path), { verbatimSymlinks: true });
    mkdirSync(join(directory, 'exports/inbox'), { recursive: true });
    const settings = {
      ENRICHMENT_BASE_URL: 'http://sandbox:8650/api/v1',
      ENRICHMENT_ALLOW_HTTP: 'true',
      ENRICHMENT_API_KEY: 'sandbox-key',
      WEBHOOK_PUBLIC_URL: 'http://receiver:8080',
      RATE_LIMITS: '100/10s',
      WORKERS: '2',
      WAREHOUSE_PASSWORD: randomBytes(24).toString('hex'),
      TEMPORAL_DATABASE_PASSWORD: randomBytes(24).toString('hex'),
    };
    for (const name of ports) settings[name] = String(await freePort());
    const example = readFileSync(join(root, '.env.example'), 'utf8');
    const lines = example.split('\n').map((line) => {
      const name = line.split('=')[0];
      return name in settings ? `${name}=${settings[name]}` : line;
    });
    writeFileSync(join(directory, '.env'), lines.join('\n'));
    writeFileSync(join(directory, 'check.yml'), overrides);
    return new ComposeStack(directory, ['docker-compose.yml', 'check.yml', ...(standIns ? [standIns] : [])]);
  }

  constructor(directory, files) {
    this.#directory = directory;
    this.#files = files;
  }

  /** Runs docker compose. @throws Error with the last lines of output, unless the exit code is accepted */
  async compose(parameters, { input = '', accept = [0] } = {}) {
    const child = spawn('docker', ['compose', ...parameters], {
      cwd: this.#directory,
      env: {
        ...process.env,
        COMPOSE_PROJECT_NAME: project,
        COMPOSE_FILE: this.#files.join(':'),
        RELEASE: String(this.release),
      },
    });
    const output = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'])
      child[stream].setEncoding('utf8').on('data', (text) => (output[stream] += text));
    // A command that reads no input may end before the input is written.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    const status = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (accept.includes(status)) return output.stdout;
    const last = `${output.stdout}${output.stderr}`.trim().split('\n').slice(-15).join('\n');
    throw new Error(`docker compose ${parameters.join(' ')} ended with ${status}:\n${last}`);
  }

  /** Runs a command of enrich in a container. @returns its standard output */
  enrich(parameters, options) {
    return this.compose(['run', '--rm', '--no-deps', '-T', 'cli', ...parameters], options);
  }

  /** Runs a command with --json. @returns the object on its last line */
  async facts(parameters, options) {
    const output = await this.enrich([...parameters, '--json'], options);
    return JSON.parse(output.trim().split('\n').at(-1));
  }

  /** Runs a query in the warehouse. @returns its only value as text */
  async query(sql) {
    const psql = ['exec', '-T', 'warehouse', 'psql', '--username', 'enrich', '-AtX', '--command', sql];
    return (await this.compose(psql)).trim();
  }

  /** Reads the bill of the sandbox. */
  async bill() {
    const script = "fetch('http://127.0.0.1:8651/sandbox/bill').then((r) => r.text()).then(console.log)";
    return JSON.parse(await this.compose(['exec', '-T', 'sandbox', 'node', '-e', script]));
  }

  /** Runs the `temporal` command in a container, as docs/guides/production.md shows it. */
  temporal(parameters) {
    return this.compose([
      'run',
      '--rm',
      '--no-deps',
      '-T',
      '--entrypoint',
      'temporal',
      'temporal-namespace',
      ...parameters,
    ]);
  }

  /** Waits until the containers of these services are healthy, or running if they have no health check. */
  healthy(services) {
    return until(`${services.join(', ')} healthy`, 300, async () => {
      const lines = (await this.compose(['ps', '--format', 'json'])).trim().split('\n').filter(Boolean);
      const containers = lines.flatMap((line) => JSON.parse(line));
      const isUp = ({ State, Health }) => State === 'running' && ['', 'healthy'].includes(Health ?? '');
      return services.every((service) => {
        const own = containers.filter((container) => container.Service === service);
        return own.length > 0 && own.every(isUp);
      });
    });
  }

  /** Writes an export, which containers see as /exports/NAME. */
  writeExport(name, text) {
    writeFileSync(join(this.#directory, 'exports', name), text);
  }

  /** Removes a volume after its container was removed. */
  removeVolume(name) {
    const { status, stderr } = spawnSync('docker', ['volume', 'rm', `${project}_${name}`]);
    if (status !== 0) throw new Error(stderr.toString());
  }

  /** Removes containers, volumes, the network and the copy of the checkout. The image stays. */
  async remove() {
    await this.compose([
      '--profile',
      'monitoring',
      '--profile',
      'cli',
      'down',
      '--volumes',
      '--remove-orphans',
    ]);
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Checks a condition every second until it is true. @throws Error after this many seconds */
export async function until(what, seconds, isSo) {
  const deadline = performance.now() + 1_000 * seconds;
  let problem = '';
  for (;;) {
    try {
      if (await isSo()) return;
    } catch (error) {
      problem = `: ${error.message}`;
    }
    if (performance.now() > deadline) throw new Error(`not within ${seconds} s: ${what}${problem}`);
    await sleep(1_000);
  }
}
