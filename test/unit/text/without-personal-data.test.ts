import { expect, it } from 'vitest';
import { namesPerson, withoutPersonalData } from '../../../src/domain/text/without-personal-data.ts';

it.each([
  ['ada@orbit.example.csv', '[email]'],
  ['ada%40orbit.example.csv', '[email]'],
  ['asked by пётр@пример.рф today', 'asked by [email] today'],
  ['ada@orbit.xn--p1ai', '[email]'],
  ['@ada@orbit.example', '[email]'],
  ['to=ada@orbit.example/box?x', '[email]/box?x'],
  ['%2B49%20151%2023456789.csv', '[phone].csv'],
  ['call +49 151 23456789', 'call [phone]'],
])('withoutPersonalData() replaces addresses and numbers in %s', (text, shown) => {
  expect(withoutPersonalData(text)).toBe(shown);
  expect(namesPerson(text)).toBe(true);
});

it.each(['contacts%202026-11-25.csv', 'undici@7.10.0', '@acme.example', 'a 40% sample of 12345678 rows'])(
  'withoutPersonalData() leaves %s as it is',
  (text) => expect(withoutPersonalData(text)).toBe(text),
);

it.each(['a', 'a@'])(
  'withoutPersonalData() reads a long word of "%s" at once',
  { timeout: 1_000 },
  (part) => {
    const word = part.repeat(20_000);
    expect(withoutPersonalData(word)).toBe(word);
  },
);
