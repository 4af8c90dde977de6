import { expect, it } from 'vitest';
import { leavesOf } from '../../../scripts/reference/commands.ts';
import { outputs } from '../../../src/outputs/outputs.ts';
import { commandLoaders } from '../../../src/cli/program.ts';

/** Commands that serve until they are stopped, or that write the requested data in a format of their own. */
const withoutFacts = ['worker', 'receiver', 'codec-server', 'sandbox', 'dev', 'mcp', 'report', 'export'];

const roots = await Promise.all([...commandLoaders.values()].map((load) => load()));
const commands = roots.flatMap((root) => leavesOf(root));

it('every command whose output has a JSON Schema has the flag --json', () => {
  const printing = commands
    .filter(({ command }) => command.options.some(({ long }) => long === '--json'))
    .map(({ name }) => name);
  const described = Object.values(outputs).flatMap((output): readonly string[] => output.commands);
  // The command report has --format json in place of --json.
  expect([...printing, 'report']).toEqual(expect.arrayContaining(described));
});

it('the command line stays within its maximum number of commands and flags', () => {
  const flags = new Set(commands.flatMap(({ command }) => command.options.map(({ long }) => long)));
  expect(roots.length).toBeLessThanOrEqual(33);
  expect(commands.length).toBeLessThanOrEqual(47);
  expect(flags.size).toBeLessThanOrEqual(75);
});

it.each(
  commands
    .filter(({ name }) => !withoutFacts.includes(name))
    .map(({ name, command }) => [name, command] as const),
)('each command that prints facts has --json: enrich %s', (_, command) => {
  expect(command.options.map(({ long }) => long)).toContain('--json');
});

it.each(commands.map(({ name, command }) => [name, command] as const))(
  'the help of every command has a summary sentence and an example: enrich %s --help',
  (name, command) => {
    let help = '';
    command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
    expect(command.summary()).toMatch(/^[A-Z].*\.$/);
    expect(help).toMatch(
      new RegExp(`^Usage: .*\\n\\n(?:.+\\n)+\\nExamples:\\n(?:.*\\n)*? +.*enrich ${name}`),
    );
  },
);
