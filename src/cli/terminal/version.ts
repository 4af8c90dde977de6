import { readFileSync } from 'node:fs';
import { projectFile } from '../../files/project-file.ts';

/** The release of this program. */
export const { version } = JSON.parse(readFileSync(projectFile('package.json'), 'utf8')) as {
  readonly version: string;
};
