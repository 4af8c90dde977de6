// Bundles each library of many files into one, because Node loads modules one by one: a command such as
// `enrich status` spent half of its processor time on loading two libraries.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Plain JavaScript libraries that only the product's code imports, and by these names. A second copy would
 * break instanceof.
 */
const libraries = ['fastify', 'kysely', 'libphonenumber-js', 'prom-client', 'undici', 'yaml', 'zod'];

/**
 * Writes the bundles to the `node_modules` of the compiled code, where Node searches first. Tests run the
 * sources and find the libraries that npm has installed.
 *
 * @param {string} dist folder of the compiled code
 */
export async function bundleLibraries(dist) {
  const folder = join(dist, 'node_modules');
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder))
    if (!libraries.includes(name)) rmSync(join(folder, name), { recursive: true });
  for (const library of libraries) await bundleLibrary(library, join(folder, library));
}

async function bundleLibrary(library, folder) {
  const { rolldown } = await import('rolldown');
  const entry = `entry-of-${library}`;
  const bundle = await rolldown({
    input: entry,
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    platform: 'node',
    // pino has worker threads with files of their own.
    external: ['pino'],
    plugins: [
      {
        name: 'entry',
        resolveId: (id) =>
          id === entry ? join(fileURLToPath(new URL('.', import.meta.url)), entry) : undefined,
        load: async (id) => (id.endsWith(entry) ? sourceOfEntry(library) : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  mkdirSync(folder, { recursive: true });
  // Renamed, so that a starting command never reads half of a file.
  for (const [name, content] of [
    ['index.js', output[0].code],
    ['package.json', `${JSON.stringify({ name: library, type: 'module', exports: './index.js' })}\n`],
  ]) {
    const file = join(folder, name);
    writeFileSync(`${file}.tmp`, content);
    renameSync(`${file}.tmp`, file);
  }
}

/** Source that exports every name of a library. For CommonJS a bundler would export only a default. */
async function sourceOfEntry(library) {
  const names = Object.keys(await import(library)).filter((name) => name !== 'module.exports');
  return [
    `import * as library from '${library}';`,
    ...names.map((name, index) => `const export${index} = library[${JSON.stringify(name)}];`),
    `export { ${names.map((name, index) => `export${index} as ${JSON.stringify(name)}`).join(', ')} };`,
  ].join('\n');
}
