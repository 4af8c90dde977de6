import { expect, it } from 'vitest';
import { shellWord } from '../../../src/domain/text/format.ts';

it.each([
  ['/exports/contacts.csv', '/exports/contacts.csv'],
  ['/my data/postgres/password', "'/my data/postgres/password'"],
  ["o'hara.csv", "'o'\\''hara.csv'"],
])('shellWord() quotes %s only where a shell would read it otherwise', (text, word) => {
  expect(shellWord(text)).toBe(word);
});
