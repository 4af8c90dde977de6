import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/**
 * The walls of the house: which room may import which. Lint holds them too; here they are held where lint's patterns
 * cannot see, by the resolved target of every import.
 */
const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Rooms in which code may know Temporal. */
const knowTemporal = ['src/cli', 'src/dev', 'src/temporal', 'src/worker.ts', 'activities', 'workflows'];

/** What a room may import of other rooms. The entry points, `src/cli` and `src/worker.ts`, put all of them together. */
const mayImport: Record<string, readonly string[]> = {
  'src/domain': [],
  'src/contract.ts': [],
  'src/config': ['src/domain'],
  'src/db': ['src/domain', 'src/contract.ts'],
  'src/telemetry': ['src/domain', 'src/config'],
  'src/service': ['src/domain', 'src/config'],
  'src/privacy': ['src/domain', 'src/contract.ts', 'src/db'],
  'src/ledger': ['src/domain', 'src/contract.ts', 'src/db', 'src/privacy'],
  'src/ingest': ['src/domain', 'src/contract.ts', 'src/db'],
  'src/people': ['src/domain', 'src/contract.ts', 'src/db', 'src/ledger', 'src/privacy'],
  'src/late-results': [
    'src/domain',
    'src/contract.ts',
    'src/db',
    'src/telemetry',
    'src/service',
    'src/privacy',
    'src/ledger',
    'src/people',
  ],
  'src/export': ['src/domain', 'src/contract.ts', 'src/db', 'src/people'],
  'src/runs': [
    'src/domain',
    'src/contract.ts',
    'src/db',
    'src/telemetry',
    'src/privacy',
    'src/ledger',
    'src/ingest',
    'src/people',
    'src/late-results',
    'src/export',
  ],
  'src/calls': [
    'src/domain',
    'src/contract.ts',
    'src/db',
    'src/telemetry',
    'src/service',
    'src/privacy',
    'src/ledger',
    'src/people',
    'src/late-results',
    'src/runs',
  ],
  'src/report': ['src/domain', 'src/contract.ts', 'src/db', 'src/runs', 'src/late-results', 'src/people'],
  'src/monitoring': ['src/domain', 'src/contract.ts', 'src/db', 'src/telemetry', 'src/ledger', 'src/runs'],
  'src/sandbox': ['src/domain/problem.ts'],
  'src/temporal': ['src/domain', 'src/contract.ts', 'src/config'],
  'src/dev': ['src/domain', 'src/contract.ts', 'src/config', 'src/temporal'],
  workflows: ['src/contract.ts', 'src/domain'],
  activities: [
    'src/domain',
    'src/contract.ts',
    'src/db',
    'src/telemetry',
    'src/privacy',
    'src/people',
    'src/late-results',
    'src/runs',
    'src/calls',
    'src/monitoring',
  ],
};

/** Settings are read in one place; these look for programs, hand an environment on, or kill themselves for a test. */
const mayReadEnvironment =
  /^src\/(?:cli|dev)\/|^src\/(?:ingest\/sources\/s3-objects|telemetry\/kill-point)\.ts$/;

interface Import {
  readonly file: string;
  readonly target: string;
  readonly external: boolean;
}

const sources = ['src', 'workflows', 'activities'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

const textOf = new Map(sources.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

/** By `from`, for its effects alone, or only when it is needed. */
const importForms = /^(?:import|export)\s[^;]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm;

const imports: Import[] = [...textOf].flatMap(([file, text]) =>
  [...text.matchAll(importForms)].map(([, from, effects, needed]) => {
    const name = from ?? effects ?? needed ?? '';
    const external = !name.startsWith('.');
    return { file, target: external ? name : relative(root, resolve(root, dirname(file), name)), external };
  }),
);

function isIn(path: string, room: string): boolean {
  return path === room || path.startsWith(`${room}/`);
}

describe('the walls', () => {
  it.each(Object.entries(mayImport))('%s imports only the rooms below it', (room, allowed) => {
    const broken = imports.filter(
      ({ file, target, external }) =>
        isIn(file, room) && !external && !isIn(target, room) && !allowed.some((other) => isIn(target, other)),
    );
    expect(broken).toEqual([]);
  });

  it('only the entry points know Temporal', () => {
    const broken = imports.filter(
      ({ file, target }) =>
        target.startsWith('@temporalio/') && !knowTemporal.some((room) => isIn(file, room)),
    );
    expect(broken).toEqual([]);
  });

  it('the domain is pure: nothing of Node, and of packages only tables of domain names and of telephone numbers, which do no input or output', () => {
    const broken = imports.filter(
      ({ file, target, external }) =>
        isIn(file, 'src/domain') && external && !['tldts', 'libphonenumber-js'].includes(target),
    );
    expect(broken).toEqual([]);
  });

  it('workflows import nothing of Temporal but its workflow package, and what writes failures its common one', () => {
    const broken = imports.filter(
      ({ file, target, external }) =>
        isIn(file, 'workflows') &&
        external &&
        target !== (file === 'workflows/encoded-failures.ts' ? '@temporalio/common' : '@temporalio/workflow'),
    );
    expect(broken).toEqual([]);
  });

  it('no files need one another in a circle, not even for their types', () => {
    const circles: string[] = [];
    const visited = new Set<string>();
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (visited.has(file)) return;
      visited.add(file);
      for (const each of imports)
        if (each.file === file && !each.external) visit(each.target, [...path, file]);
    };
    for (const file of sources) visit(file, []);
    expect(circles).toEqual([]);
  });

  it('settings are read by the commands, and handed down', () => {
    const readers = [...textOf].flatMap(([file, text]) => (text.includes('process.env') ? [file] : []));
    expect(readers.filter((file) => !mayReadEnvironment.test(file))).toEqual([]);
  });

  it('whatever is exported as a value is used by another file', () => {
    const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => [`test/${name}`, readFileSync(join(root, 'test', name), 'utf8')] as const);
    const wordsOf = [...textOf, ...tests].map(
      ([file, text]) => [file, new Set(text.match(/[\w$]+/g))] as const,
    );
    const unused = [...textOf].flatMap(([file, text]) =>
      [...text.matchAll(/^export (?:async )?(?:abstract )?(?:function\*?|const|class|let) ([\w$]+)/gm)]
        .map(([, name]) => name!)
        .filter((name) => !wordsOf.some(([other, words]) => other !== file && words.has(name)))
        .map((name) => `${file}: ${name}`),
    );
    // What Temporal's SDK loads by the path of its file.
    expect(unused.filter((name) => !name.startsWith('workflows/encoded-failures.ts'))).toEqual([]);
  });

  it('every room has its walls', () => {
    const open = ['src/cli', 'src/worker.ts'];
    const homeless = imports.filter(
      ({ file }) => ![...Object.keys(mayImport), ...open].some((room) => isIn(file, room)),
    );
    expect(homeless).toEqual([]);
  });
});
