import { expect, it } from 'vitest';
import { parseYaml } from '../../../src/cli/terminal/parse-yaml.ts';

it('parseYaml() reads YAML and JSON', () => {
  expect(parseYaml('columns:\n  email: Mail')).toEqual({ columns: { email: 'Mail' } });
  expect(parseYaml('{"columns": {"email": "Mail"}}')).toEqual({ columns: { email: 'Mail' } });
});

it('parseYaml() says in one line what is wrong, and in which line of the file', () => {
  expect(() => parseYaml('columns: [')).toThrow(/^[^\n]* at line 1, column 11$/);
});
