// Checks the chart in deploy/helm/enrich with helm lint, helm template and the schemas of Kubernetes, for each values
// file in test/helm. A comment in such a file says what it renders, or why the chart refuses it.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { pythonEnvironment } from './python-environment.mjs';

const helmVersion = 'v3.22.0';
/** Version of kubernetes-validate, and of the Kubernetes release with its schemas. */
const validatorVersion = '1.37.0';
const root = fileURLToPath(new URL('..', import.meta.url));
const chart = join(root, 'deploy/helm/enrich');
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'enrich');

const helm = provideHelm();
const commands = pythonEnvironment('helm', [`kubernetes-validate==${validatorVersion}`]);
let failures = 0;
for (const name of readdirSync(join(root, 'test/helm'))) {
  const problem = checkValues(join(root, 'test/helm', name));
  console.log(`${name}: ${problem ?? 'ok'}`);
  if (problem !== undefined) failures += 1;
}
process.exitCode = failures === 0 ? 0 : 1;

/** Renders the chart with a values file. @returns what is wrong, or undefined */
function checkValues(file) {
  const text = readFileSync(file, 'utf8');
  const said = (kind) => [...text.matchAll(new RegExp(`^# ${kind}: (.+)$`, 'gm'))].map((match) => match[1]);
  const values = ['--namespace', 'enrich', '--kube-version', validatorVersion, '--values', file];
  const rendered = run(helm, ['template', 'enrich', chart, ...values]);
  const refusals = said('refused');
  if (refusals.length > 0) {
    if (rendered.status === 0) return 'the chart accepts these values';
    const missing = refusals.find((part) => !rendered.errors.includes(part));
    return missing && `the refusal does not name ${missing}:\n${rendered.errors}`;
  }
  if (rendered.status !== 0) return rendered.errors;
  const missing = said('renders').find((part) => !rendered.output.includes(part));
  if (missing !== undefined) return `not rendered: ${missing}`;
  const linted = run(helm, ['lint', '--strict', chart, ...values]);
  if (linted.status !== 0) return linted.output + linted.errors;
  return validate(rendered.output);
}

/**
 * Checks rendered objects with Kubernetes' schemas. Objects of operators (Prometheus, KEDA) have none and are only
 * parsed.
 */
function validate(rendered) {
  const directory = mkdtempSync(join(tmpdir(), 'enrich-helm-'));
  try {
    const objects = parseAllDocuments(rendered, { uniqueKeys: true });
    const broken = objects.flatMap(({ errors }) => errors);
    if (broken.length > 0) return broken.join('\n');
    const files = objects
      .filter((object) => !/monitoring\.coreos\.com|keda\.sh/.test(object.get('apiVersion')))
      .map((object, index) => {
        const file = join(directory, `${index}.yaml`);
        writeFileSync(file, object.toString());
        return file;
      });
    const { status, output, errors } = run(join(commands, 'kubernetes-validate'), [
      '--strict',
      '--quiet',
      ...files,
    ]);
    return status === 0 ? undefined : output + errors;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Builds Helm once from its Go module. @returns the path of the program */
function provideHelm() {
  const directory = join(cache, `helm-${helmVersion}`);
  const path = join(directory, 'helm');
  if (existsSync(path)) return path;
  if (run('go', ['version']).status !== 0) skip('Go is not installed: Helm cannot be built');
  console.log(`building Helm ${helmVersion} (some minutes, once)`);
  mkdirSync(directory, { recursive: true });
  const source = `helm.sh/helm/v3/cmd/helm@${helmVersion}`;
  const built = run('nice', ['-n', '15', 'go', 'install', source], { GOBIN: directory, CGO_ENABLED: '0' });
  if (built.status !== 0) stop(`Helm cannot be built:\n${built.errors}`);
  return path;
}

function run(command, parameters, environment = {}) {
  const { status, stdout, stderr } = spawnSync(command, parameters, {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576,
  });
  return { status, output: stdout ?? '', errors: stderr ?? '' };
}

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(0);
}

function stop(reason) {
  console.error(`error: ${reason}`);
  process.exit(1);
}
