import { expect, it } from 'vitest';
import { headerKey, tidyHeader, formatHeader } from '../../../src/domain/text/header-name.ts';

it.each([
  ['capitals without accents', 'PRENOM', 'Prénom'],
  ['the Turkish İ', 'İSİM', 'isim'],
  ['the Turkish ı', 'SOYADI', 'Soyadı'],
  ['decomposed accents', 'Prénom'.normalize('NFD'), 'Prénom'],
  ['decomposed Korean', '이메일'.normalize('NFD'), '이메일'],
  ['decomposed Japanese', '電話ダイヤル'.normalize('NFD'), '電話ダイヤル'],
  ['letters that do not decompose', 'Adresa e-mail slovna: Polska ąęł', 'adresaemailslovnapolskaael'],
  ['full-width letters', 'Ｅメール', 'Eメール'],
  ['marks of the writing direction', '\u202bשם פרטי\u202c\u200f', 'שם פרטי'],
  ['isolates and a byte order mark', '\ufeff\u2066Email\u2069', 'Email'],
  ['line breaks', 'E-mail\r\nadresa', 'E-mail adresa'],
])('headerKey() reads %s like the plain spelling', (_, spelling, plain) => {
  expect(headerKey(spelling)).toBe(headerKey(plain));
});

it('headerKey() distinguishes Japanese letters by diacritics and Indic letters by vowel signs', () => {
  expect(headerKey('ハス')).not.toBe(headerKey('バス'));
  expect(headerKey('कि')).not.toBe(headerKey('की'));
});

it('headerKey() reads a header of 300,000 characters within the time limit of a test', () => {
  expect(headerKey('É'.repeat(300_000))).toHaveLength(300_000);
  expect(headerKey(`${'\u200f *'.repeat(100_000)}x`)).toBe('x');
});

it('tidyHeader() keeps accents and joiners, because importers match the exact label', () => {
  expect(tidyHeader('\u200fPrénom\u00a0 légal *')).toBe('Prénom légal');
  expect(tidyHeader('نام\u200cخانوادگی')).toBe('نام\u200cخانوادگی');
});

it('formatHeader() cuts a long name between two characters, not within one', () => {
  const shown = formatHeader(`${'a'.repeat(56)}😀${'b'.repeat(10)}`);
  expect(shown.isWellFormed()).toBe(true);
  expect(shown).toMatch(/^a{56}.?\.\.\.$/u);
});
