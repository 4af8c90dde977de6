import { readFileSync } from 'node:fs';

const packageFile = new URL(
  // From the sources, as tests run it, the project is one folder nearer than from what is built.
  import.meta.url.endsWith('.ts') ? '../../../package.json' : '../../../../package.json',
  import.meta.url,
);

/** The release of this program. */
export const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { readonly version: string };
