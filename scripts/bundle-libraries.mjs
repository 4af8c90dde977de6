// Makes one file of each library that consists of many: Node finds, reads and compiles modules one by one, and a
// command such as `enrich status` spent half of its processor time on those of two libraries.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Plain JavaScript that our own code alone imports, and by these names: beside a second copy, objects would not know
 * each other.
 */
const libraries = ['fastify', 'kysely', 'libphonenumber-js', 'prom-client', 'undici', 'yaml', 'zod'];

/**
 * Node looks for a library in the nearest `node_modules` first: the compiled code finds these, and the tests, which run
 * the sources, those that npm has installed.
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
    // The log is handed over as an object, and has threads with files of their own.
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
  // Renamed into place: a command that starts meanwhile reads the old one or the new one, never half of it.
  for (const [name, content] of [
    ['index.js', output[0].code],
    ['package.json', `${JSON.stringify({ name: library, type: 'module', exports: './index.js' })}\n`],
  ]) {
    const file = join(folder, name);
    writeFileSync(`${file}.tmp`, content);
    renameSync(`${file}.tmp`, file);
  }
}

/**
 * Exports all that the library does, under the same names: of one in CommonJS, a bundler would export a default alone.
 */
async function sourceOfEntry(library) {
  const names = Object.keys(await import(library)).filter((name) => name !== 'module.exports');
  return [
    `import * as library from '${library}';`,
    ...names.map((name, index) => `const export${index} = library[${JSON.stringify(name)}];`),
    `export { ${names.map((name, index) => `export${index} as ${JSON.stringify(name)}`).join(', ')} };`,
  ].join('\n');
}
