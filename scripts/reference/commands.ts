import type { Command } from 'commander';
import { code, prose, table, wrapped } from './page.ts';

interface Leaf {
  readonly name: string;
  readonly heading: string;
  readonly command: Command;
}

export function leavesOf(
  command: Command,
  name = command.name(),
  heading = command.helpGroup(),
): readonly Leaf[] {
  if (command.commands.length === 0) return [{ name, heading, command }];
  return command.commands.flatMap((child) => leavesOf(child, `${name} ${child.name()}`, heading));
}

/** Flags with the same meaning in every command that has them. The reference describes them once. */
const common: Readonly<Record<string, RegExp>> = {
  '--json': /^result as JSON on the last line of standard output$/,
  '--quiet': /^only the result and errors$/,
  '--yes': /without asking$/,
  '--reason': /^reason, /,
  '--by': /^name of the person who decided/,
};

const optionsOf = ({ command }: Leaf) => command.options.filter(({ hidden }) => !hidden);
type Flag = ReturnType<typeof optionsOf>[number];

const isCommon = ({ long, description }: Flag): boolean => common[long ?? '']?.test(description) ?? false;

function flagRow({ flags, description, defaultValue, argChoices, mandatory }: Flag): string[] {
  const unnamed = argChoices?.some((choice) => !description.includes(choice)) ? argChoices : [];
  const choices = unnamed.length > 0 ? `; ${unnamed.join(', ')}` : '';
  const fallback =
    defaultValue === undefined || Array.isArray(defaultValue) ? '' : ` (default: ${String(defaultValue)})`;
  return [code(flags), prose(`${mandatory ? 'required: ' : ''}${description}${choices}${fallback}`)];
}

/** Returns the flags of `run` that at least two other commands share. */
function flagsOfRuns(leaves: readonly Leaf[]): ReadonlyMap<string, string> {
  const run = leaves.find(({ name }) => name === 'run')!;
  const same = (flag: Flag) =>
    leaves.filter((leaf) => optionsOf(leaf).some((each) => each.description === flag.description));
  return new Map(
    optionsOf(run)
      .filter((flag) => !isCommon(flag) && same(flag).length >= 3)
      .map((flag) => [flag.description, flag.long!]),
  );
}

/** Headings of `enrich --help` on each page of the reference. Other commands are on the page `commands-warehouse`. */
const pages = {
  commands: ['Runs:'],
  'commands-warehouse': [],
  'commands-processes': ['Set-up and processes:'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type CommandsPage = keyof typeof pages;
export const commandsPages = Object.keys(pages) as CommandsPage[];

export function commandsPage(roots: readonly Command[], page: CommandsPage): string {
  const named: readonly string[] = Object.values(pages).flat();
  const others = roots.map((root) => root.helpGroup()).filter((heading) => !named.includes(heading));
  const headings: readonly string[] = page === 'commands-warehouse' ? [...new Set(others)] : pages[page];
  const leaves = roots.flatMap((root) => leavesOf(root));
  const ofRuns = flagsOfRuns(leaves);
  const run = leaves.find(({ name }) => name === 'run')!;
  const shared = optionsOf(run).filter(({ description }) => ofRuns.has(description));
  const parts = headings.flatMap((heading) => [
    `## ${heading.replace(/:$/, '')}`,
    ...leaves.filter((leaf) => leaf.heading === heading).map((leaf) => section(leaf, ofRuns)),
  ]);
  if (headings.includes(run.heading))
    parts.push('## Flags of a run', table(['Flag', 'Meaning'], shared.map(flagRow)));
  return parts.join('\n\n');
}

function section(leaf: Leaf, ofRuns: ReadonlyMap<string, string>): string {
  const { name, command } = leaf;
  const flags = optionsOf(leaf);
  const fromRuns = flags.filter(({ description }) => ofRuns.has(description));
  const lacking = [...ofRuns.values()].filter((long) => !fromRuns.some((flag) => flag.long === long));
  const also = [
    ...flags.filter(isCommon).map(({ long }) => code(long!)),
    ...(fromRuns.length === 0 ? [] : ['the [flags of a run](#flags-of-a-run)']),
  ];
  const without = fromRuns.length > 0 && lacking.length > 0 ? ` (not ${lacking.map(code).join(', ')})` : '';
  const rows = [
    ...command.registeredArguments.map((each) => [
      code(`${each.name().toUpperCase()}${each.variadic ? '…' : ''}`),
      prose(`${each.required ? '' : 'optional: '}${each.description}`),
    ]),
    ...flags.filter((flag) => !isCommon(flag) && !ofRuns.has(flag.description)).map(flagRow),
  ];
  return [
    `### enrich ${name}`,
    wrapped(prose(command.summary() || command.description())),
    ...(rows.length === 0 ? [] : [table(['Argument or flag', 'Meaning'], rows)]),
    ...(also.length === 0 ? [] : [wrapped(`Also: ${also.join(', ')}${without}.`)]),
  ].join('\n\n');
}
