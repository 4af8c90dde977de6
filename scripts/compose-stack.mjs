import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.mjs';

/** Beside docker-compose.yml: an image of its own, and the sandbox, which listens on 127.0.0.1 only. */
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

/** Why no stack can be started here; undefined: one can. */
export function missingEngine() {
  if (spawnSync('docker', ['compose', 'version']).status !== 0) return '"docker compose" is missing';
  if (spawnSync('docker', ['info']).status !== 0) return 'no container engine answers "docker info"';
  return undefined;
}

/**
 * The stack of docker-compose.yml as a project of its own, in a copy of the checkout: its .env, exports, volumes and
 * images are not those of an operator on this machine.
 */
export class ComposeStack {
  release = 1;
  #directory;
  #files;

  /**
   * @param {string} root the checkout
   * @param {string | undefined} standIns path of another compose file, for other images
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

  /** Runs docker compose. @throws Error with its last lines unless it ends with 0 */
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
    // A command that reads nothing may have ended before the input is written.
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

  /** A command of the product. @returns its standard output */
  enrich(parameters, options) {
    return this.compose(['run', '--rm', '--no-deps', '-T', 'cli', ...parameters], options);
  }

  /** A command with --json, whose last line is an object. */
  async facts(parameters, options) {
    const output = await this.enrich([...parameters, '--json'], options);
    return JSON.parse(output.trim().split('\n').at(-1));
  }

  /** @returns one value of the warehouse as text */
  async query(sql) {
    const psql = ['exec', '-T', 'warehouse', 'psql', '--username', 'enrich', '-AtX', '--command', sql];
    return (await this.compose(psql)).trim();
  }

  /** What the sandbox has billed. */
  async bill() {
    const script = "fetch('http://127.0.0.1:8651/sandbox/bill').then((r) => r.text()).then(console.log)";
    return JSON.parse(await this.compose(['exec', '-T', 'sandbox', 'node', '-e', script]));
  }

  /** The temporal command, as docs/guides/production.md has it. */
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

  /** Waits until the containers of these services are healthy, or run where they have no health check. */
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

  /** Writes an export that containers see as /exports/NAME. */
  writeExport(name, text) {
    writeFileSync(join(this.#directory, 'exports', name), text);
  }

  /** Removes a volume whose container is gone. */
  removeVolume(name) {
    const { status, stderr } = spawnSync('docker', ['volume', 'rm', `${project}_${name}`]);
    if (status !== 0) throw new Error(stderr.toString());
  }

  /** Removes containers, volumes, network and the copy of the checkout; the image stays. */
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

/** Asks every second until it is so. @throws Error after so many seconds */
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
