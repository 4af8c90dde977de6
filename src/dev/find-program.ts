import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Finds a program by its name in the folders of a search path.
 *
 * @returns the path of the program; undefined if no folder has it
 */
export function findProgram(name: string, searchPath = process.env['PATH'] ?? ''): string | undefined {
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
