import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Returns the absolute path of a file of the project, such as `package.json` or `dist/workflow-bundle.js`. The sources,
 * the compiled files and the bundled command line are at different depths below the project's folder.
 *
 * @param path relative to the folder of `package.json`
 */
export function projectFile(path: string): string {
  return fileURLToPath(new URL(path, root));
}

const root = above(new URL('.', import.meta.url));

function above(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : above(new URL('..', folder));
}

/** The release of this program. */
export const { version } = JSON.parse(readFileSync(projectFile('package.json'), 'utf8')) as {
  readonly version: string;
};
