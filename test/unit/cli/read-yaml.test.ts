import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readYamlFile } from '../../../src/cli/terminal/command.ts';
import { Problem } from '../../../src/domain/problem.ts';
import { temporaryFolder } from '../../helpers/system/temporary-folder.ts';

const folder = temporaryFolder();

function read(content: string | undefined): Promise<unknown> {
  const file = join(folder, content === undefined ? 'missing.yaml' : 'file.yaml');
  if (content !== undefined) writeFileSync(file, content);
  return readYamlFile(file, 'the file', (what) => new Problem('test', what, { next: 'correct it' }));
}

it('readYamlFile() reads YAML and JSON', async () => {
  expect(await read('columns:\n  email: Mail')).toEqual({ columns: { email: 'Mail' } });
  expect(await read('{"columns": {"email": "Mail"}}')).toEqual({ columns: { email: 'Mail' } });
});

it('readYamlFile() says in one line what is wrong, and in which line of the file', async () => {
  await expect(read('columns: [')).rejects.toThrow(
    /^the file is neither YAML nor JSON: [^\n]* at line 1, column 11$/,
  );
  await expect(read(undefined)).rejects.toThrow('the file does not exist');
});
