import { existsSync } from 'node:fs';

/**
 * A compiled module, for processes that a test starts: Node runs no TypeScript. `npm test` compiles first.
 *
 * @param path in the project, as the source is named: `src/dev/postgres.ts`
 * @returns its file address
 */
export function compiledModule(path: string): string {
  const url = new URL(`../../dist/${path.replace(/\.ts$/, '.js')}`, import.meta.url);
  if (!existsSync(url)) throw new Error(`${url.pathname} is missing: run npm run build`);
  return url.href;
}
