import { expect, it } from 'vitest';
import { runHere } from '../../helpers/system/run-here.ts';

const enrich = (words: readonly string[]) => runHere(words, { environment: {}, directory: process.cwd() });

it.each([
  [[], 'Runs:'],
  [['attempts'], 'Commands:'],
  [['budget'], 'Commands:'],
  [['inbox'], 'Commands:'],
])('a command that has only subcommands prints its help: enrich %j', async (words, heading) => {
  const ended = await enrich(words);
  expect(ended.stdout).toContain(heading);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
});

it.each([
  ['enrich budget', 'show', ['budget', 'shaw']],
  ['enrich', 'run', ['rum']],
])('%s suggests the command %s for a misspelt command: enrich %j', async (name, near, words) => {
  const ended = await enrich(words);
  expect(ended.stdout).toBe('');
  expect(ended.stderr).toBe(
    `error: unknown command '${words.find((word) => /^(rum|shaw)$/.test(word))}' (Did you mean ${near}?)\n` +
      `  where: ${name}\n` +
      `  next:  ${name} --help shows what it takes, and an example\n`,
  );
  expect(ended.code).toBe(2);
});
