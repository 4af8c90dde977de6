import { existsSync } from 'node:fs';

/**
 * Finds a compiled module, for processes that a test starts: Node runs no TypeScript. `npm test` compiles first.
 *
 * @param path of the source in the project: `src/dev/postgres.ts`
 * @returns file URL of the compiled module
 */
export function compiledModule(path: string): string {
  const url = new URL(`../../../dist/${path.replace(/\.ts$/, '.js')}`, import.meta.url);
  if (!existsSync(url)) throw new Error(`${url.pathname} is missing: run npm run build`);
  return url.href;
}
