// Which folder may import which: the one place that says so. `npm run check` holds it.

/**
 * What a folder may import of the others, which stand above it here: so no folders import each other. `src/cli` and
 * `src/worker.ts` put everything together.
 */
const mayImport = {
  'src/domain': [],
  'src/sandbox': [],
  // Only types.
  'src/contract': ['src/domain'],
  'src/config': ['src/domain'],
  'src/files': ['src/domain'],
  'src/telemetry': ['src/domain', 'src/config'],
  'src/service': ['src/domain', 'src/config'],
  'src/db': ['src/domain', 'src/contract'],
  'src/keys': ['src/domain', 'src/db'],
  'src/suppression': ['src/domain', 'src/db', 'src/keys'],
  'src/ledger': ['src/domain', 'src/contract', 'src/db', 'src/suppression'],
  'src/ingest': ['src/domain', 'src/contract', 'src/db', 'src/files'],
  'src/people': ['src/domain', 'src/contract', 'src/service', 'src/db', 'src/keys', 'src/suppression'],
  'src/privacy': ['src/domain', 'src/db', 'src/keys', 'src/suppression', 'src/people'],
  'src/late-results': [
    'src/domain',
    'src/contract',
    'src/db',
    'src/telemetry',
    'src/service',
    'src/keys',
    'src/suppression',
    'src/ledger',
    'src/people',
  ],
  'src/export': ['src/domain', 'src/contract', 'src/db', 'src/files', 'src/keys', 'src/people'],
  'src/runs': [
    'src/domain',
    'src/contract',
    'src/db',
    'src/telemetry',
    'src/keys',
    'src/suppression',
    'src/ledger',
    'src/ingest',
    'src/people',
    'src/late-results',
  ],
  'src/calls': [
    'src/domain',
    'src/contract',
    'src/db',
    'src/telemetry',
    'src/service',
    'src/keys',
    'src/suppression',
    'src/ledger',
    'src/people',
    'src/late-results',
    'src/runs',
  ],
  // Only types of the other folders.
  'src/outputs': ['src/domain', 'src/contract', 'src/ledger', 'src/people', 'src/privacy', 'src/export'],
  'src/report': [
    'src/domain',
    'src/contract',
    'src/db',
    'src/ingest',
    'src/people',
    'src/late-results',
    'src/runs',
    'src/outputs',
  ],
  'src/monitoring': [
    'src/domain',
    'src/contract',
    'src/config',
    'src/db',
    'src/telemetry',
    'src/ledger',
    'src/ingest',
    'src/export',
    'src/runs',
    'src/outputs',
  ],
  'src/temporal': ['src/domain', 'src/contract', 'src/config', 'src/files', 'src/telemetry'],
  'src/dev': ['src/domain', 'src/contract', 'src/config', 'src/files', 'src/temporal'],
  workflows: ['src/contract', 'src/domain'],
  activities: [
    'src/domain',
    'src/contract',
    'src/db',
    'src/telemetry',
    'src/privacy',
    'src/late-results',
    'src/runs',
    'src/calls',
    'src/monitoring',
  ],
};

const folders = Object.keys(mayImport);
for (const [index, [folder, allowed]] of Object.entries(mayImport).entries()) {
  const below = allowed.filter((other) => folders.indexOf(other) >= index || !folders.includes(other));
  if (below.length > 0) throw new Error(`${folder} may import only folders above it: ${below.join(', ')}`);
}

const entryPoints = ['src/cli', 'src/worker.ts'];
const knowTemporal = [...entryPoints, 'src/dev', 'src/temporal', 'activities', 'workflows'];

/** Tables of domain names, telephone numbers and time zones, and schemas: they read and write nothing. */
const purePackages = [
  'entities',
  'fastest-levenshtein',
  'libphonenumber-js',
  'temporal-polyfill',
  'tldts',
  'zod',
];

/** @param {readonly string[]} paths folders and files, as regular expressions for dependency-cruiser */
function within(paths) {
  return paths.map((path) => `^${path.replaceAll('.', '\\.')}(?:/|$)`);
}

/** @param {readonly string[]} names packages, as regular expressions for dependency-cruiser */
function packages(names) {
  return names.map((name) => `(?:^|/)node_modules/${name}/`);
}

const ours = within(['src', 'workflows', 'activities', 'test', 'scripts']);
const product = within(['src', 'workflows', 'activities']);

export default {
  forbidden: [
    ...Object.entries(mayImport).map(([folder, allowed]) => ({
      name: `${folder} imports only what mayImport of .dependency-cruiser.mjs names`,
      severity: 'error',
      from: { path: within([folder]) },
      to: { path: ours, pathNot: within([folder, ...allowed]) },
    })),
    {
      name: 'every folder has an entry in mayImport',
      severity: 'error',
      from: { path: product, pathNot: within([...folders, ...entryPoints]) },
      to: {},
    },
    {
      name: 'the product imports no tests',
      severity: 'error',
      from: { path: product },
      to: { path: within(['test', 'scripts']) },
    },
    {
      name: 'no cycles, not even of types',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'only entry points, dev, temporal, activities and workflows know Temporal',
      severity: 'error',
      from: { path: product, pathNot: within(knowTemporal) },
      to: { path: packages(['@temporalio']) },
    },
    {
      name: 'domain and contract do no input or output',
      severity: 'error',
      from: { path: within(['src/domain', 'src/contract']) },
      // Hashes neither read nor write. Workflows cannot import them: Temporal's bundler refuses modules of Node.
      to: { pathNot: [...ours, ...packages(purePackages), '^(?:node:)?crypto$'] },
    },
    {
      name: 'workflows import @temporalio/workflow only: they are deterministic',
      severity: 'error',
      from: { path: within(['workflows']), pathNot: within(['workflows/encoded-failures.ts']) },
      to: { pathNot: [...ours, ...packages(['@temporalio/workflow'])] },
    },
    {
      name: 'the failure converter imports @temporalio/common only',
      severity: 'error',
      from: { path: within(['workflows/encoded-failures.ts']) },
      to: { pathNot: [...ours, ...packages(['@temporalio/common'])] },
    },
    {
      name: 'the product imports no development dependency',
      severity: 'error',
      from: { path: product },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    { name: 'every import resolves', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    // TypeScript 7 has no API for a parser; Temporal's bundler brings swc along.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
