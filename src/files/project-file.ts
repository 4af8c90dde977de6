import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Returns the absolute path of a file of the project, such as `dist/workflow-bundle.js`. */
export function projectFile(path: string): string {
  return fileURLToPath(new URL(path, root));
}

const root = above(new URL('.', import.meta.url));

/** Finds the folder of package.json, because sources and built files are at different depths. */
function above(folder: URL): URL {
  return existsSync(new URL('package.json', folder)) ? folder : above(new URL('..', folder));
}

/** Version of this program, from `package.json`. */
export const { version } = JSON.parse(readFileSync(projectFile('package.json'), 'utf8')) as {
  readonly version: string;
};
