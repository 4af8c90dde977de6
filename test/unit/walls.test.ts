import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/**
 * The walls of the house: which room may import which. Lint holds them too; here they are held where lint's patterns
 * cannot see, by the resolved target of every import.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Rooms in which code may know Temporal. */
const knowTemporal = ['src/cli', 'src/dev', 'src/worker.ts', 'activities', 'workflows'];

/** What a room of the project may import of other rooms; `domain` and the contract are open to everybody unless noted. */
const mayImport: Record<string, readonly string[]> = {
  'src/domain': [],
  'src/contract.ts': [],
  'src/config.ts': ['src/domain', 'src/setting-values.ts'],
  'src/setting-values.ts': ['src/domain'],
  'src/service': ['src/domain', 'src/config.ts'],
  'src/observe': ['src/domain', 'src/contract.ts', 'src/config.ts', 'src/warehouse', 'src/limits'],
  'src/warehouse': ['src/domain', 'src/contract.ts'],
  'src/limits': ['src/domain', 'src/contract.ts', 'src/warehouse'],
  'src/exports': ['src/domain', 'src/contract.ts', 'src/warehouse'],
  'src/enrichment': [
    'src/domain',
    'src/contract.ts',
    'src/warehouse',
    'src/limits',
    'src/exports',
    'src/service',
    'src/observe',
  ],
  'src/webhook': ['src/domain', 'src/warehouse', 'src/observe'],
  'src/report': ['src/domain', 'src/contract.ts', 'src/warehouse'],
  'src/sandbox': ['src/domain/problem.ts'],
  workflows: ['src/contract.ts', 'src/domain'],
  activities: [
    'src/domain',
    'src/contract.ts',
    'src/enrichment',
    'src/warehouse',
    'src/webhook',
    'src/observe',
  ],
};

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

const imports: Import[] = sources.flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^(?:import|export)\s[^;]*?from\s+'([^']+)'/gm)].map(
    ([, name = '']) => ({
      file,
      target: name.startsWith('.') ? relative(root, resolve(root, dirname(file), name)) : name,
      external: !name.startsWith('.'),
    }),
  ),
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

  it('every room has its walls', () => {
    const open = ['src/cli', 'src/dev', 'src/worker.ts'];
    const homeless = imports.filter(
      ({ file }) => ![...Object.keys(mayImport), ...open].some((room) => isIn(file, room)),
    );
    expect(homeless).toEqual([]);
  });
});
