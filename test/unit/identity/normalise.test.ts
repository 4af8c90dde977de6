import { describe, expect, it } from 'vitest';
import { hasLostLetters } from '../../../src/domain/identity/values/lost-letters.ts';
import {
  comparisonForm,
  displayForm,
  organizationForm,
  hasLastNamesFirst,
  parseFullName,
  parseName,
  parseOrganizationName,
} from '../../../src/domain/identity/values/normalise.ts';

it.each([
  ['Ada', 'Ada'],
  ['  Ada \u00a0 Marie\t', 'Ada Marie'],
  ['A\u0000da\u200b', 'Ada'],
  ['Jose\u0301', 'José'],
  ['\ud800Ada', 'Ada'],
  ['می\u200cخواهم', 'می\u200cخواهم'],
  ['\u0000\u200b ', ''],
  ['="4001"', '4001'],
])('the display form of %j is %j', (text, expected) => {
  expect(displayForm(text)).toBe(expected);
});

it.each([
  ['Jean-Luc  O’Brién', 'jean luc obrien'],
  ["JEAN LUC O'BRIEN", 'jean luc obrien'],
  ['Weiß', 'weiss'],
  ['Søren Łukasz', 'soren lukasz'],
  ['J.R. Ewing', 'jr ewing'],
  ['ﬁnn', 'finn'],
  ['山田 太郎', '山田 太郎'],
])('the comparison form of %j is %j', (text, expected) => {
  expect(comparisonForm(text)).toBe(expected);
});

it('the comparison form keeps vowel signs that are combining marks', () => {
  expect(comparisonForm('कि')).not.toBe(comparisonForm('कु'));
});

describe('names', () => {
  it.each([
    '',
    '-',
    '12345',
    'n/a',
    'NULL',
    '[not provided]',
    'x'.repeat(301),

    'k.A.',
    'unbekannt',
    'Non renseigné',
    'Desconocido',
    'sconosciuto',
    'onbekend',
    '不明',
    '未知',
    'неизвестно',
    '#NV',
    '#BEZUG!',
    '#DIV/0!',
    '#NOM?',
    '#N/D',
    '#¿NOMBRE?',
    '#¡REF!',
    '#RIF!',
    '#ИМЯ?',
    '#Н/Д',
    'ada.novak@acme.example',
    '<ada@acme.example>',
    'Ada ada@acme.example',
    'Ada <ada@acme.example> Novak',
  ])('%j is no name of a person', (cell) => {
    expect(parseName(cell)).toBeUndefined();
  });

  it.each(['Null', 'Na', 'O', 'Ng', '李', 'Ada @ Acme'])('%j is a name of a person', (cell) => {
    expect(parseName(cell)).toBe(cell);
  });

  it.each(['Ada Novak <ada@acme.example>', 'Ada Novak (ada@acme.example)', 'Ada Novak [ada@acme.example] '])(
    'the address in brackets behind the name is no part of it: %j',
    (cell) => {
      expect(parseName(cell)).toBe('Ada Novak');
    },
  );
});

describe('names from web forms and lists', () => {
  it.each([
    ['O&#39;Brien', "O'Brien"],
    ['O&#x27;Brien', "O'Brien"],
    ['M&#252;ller', 'Müller'],
    ['Ada&nbsp;Novak', 'Ada Novak'],
    ['M&uuml;ller-Gro&szlig;', 'Müller-Groß'],
    ['&Aring;sa Sk&Aacute;la &Scaron;imek', 'Åsa SkÁla Šimek'],
  ])('the entities of the name %s are read: %s', (cell, name) => {
    expect(parseName(cell)).toBe(name);
  });

  it.each([
    ['Berg &amp; S&ouml;hne', 'Berg & Söhne'],
    ['M&oslash;ller A/S', 'Møller A/S'],
    ['Acme Robotics;Orbit', 'Acme Robotics'],
    ['; Orbit;', 'Orbit'],
    ['R&D; Labs', 'R&D'],
    [';', undefined],
  ])('the company of %s is %s: the first of several', (cell, company) => {
    expect(parseOrganizationName(cell)).toBe(company);
  });
});

describe('hasLostLetters()', () => {
  it.each([
    'M?ller',
    '?ukasz',
    'Jan ?ukasz',
    'M�ller',
    'MÃ¼ller',
    'JosÃ©',
    'Å‚ukasz',
    'NovÃ¡k',
    'Ð˜Ð²Ð°Ð½',
    'å±±ç”°',
  ])('a program has lost or misread letters of %j', (name) => {
    expect(hasLostLetters(name)).toBe(true);
  });

  it.each([
    'Müller',
    'Ada?',
    '?',
    'KŘÍŽ',
    'ŽÍŽKA',
    'José García',
    'JOSÉ\u00a0GARCÍA',
    '“RENÉ”',
    'O’Brién',
    'Åse',
    'Ñañez',
    'Conceição',
    'Nguyễn Văn Ân',
    'ÄNGLAR',
    'Łukasz',
    '山田',
    'Иван',
  ])('%j has all its letters', (name) => {
    expect(hasLostLetters(name)).toBe(false);
  });
});

describe('full names', () => {
  it.each([
    ['Novak, Ada', 'Ada Novak'],
    [' Novak ,Ada Maria ', 'Ada Maria Novak'],
    ['NOVAK, ADA', 'ADA NOVAK'],
    ['Novak-Berg, A.', 'A. Novak-Berg'],
    ["O'Neil, Dr. LaToya", "Dr. LaToya O'Neil"],
    ['van der Berg, Anna', 'Anna van der Berg'],
    ['山田, 太郎', '太郎 山田'],
    ['Huber, Herr Max', 'Max Huber'],
  ])('the full name %j has the last name first and is %s', (cell, expected) => {
    expect(parseFullName(cell)).toBe(expected);
  });

  it.each([
    'Ada Novak',
    'Ada Novak, PhD',
    'Novak, Jr.',
    'Novak, MSc',
    'ADA NOVAK, CPA',
    'Novak, Ph.D.',
    'Novak, Ada, MBA',
    'Novak,',
    'Ada Novak, Product Manager',
  ])('the order of the full name %j is kept', (cell) => {
    expect(parseFullName(cell)).toBe(cell);
  });

  it.each([
    ['Herr Max Huber', 'Max Huber'],
    ['Frau Dr. Eva Lang', 'Dr. Eva Lang'],
    ['Mr. John Doe', 'John Doe'],
    ['Mme Anne Petit', 'Anne Petit'],
    ['Sra. María García', 'María García'],
    ['Sig.ra Anna Rossi', 'Anna Rossi'],
    ['De heer Jan de Boer', 'Jan de Boer'],
    ['山田太郎様', '山田太郎'],
    ['王伟先生', '王伟'],
    ['김민수 님', '김민수'],
    ['Kyle Herr', 'Kyle Herr'],
    ['MS Dhoni', 'MS Dhoni'],
    ['Herr', 'Herr'],
  ])('the full name %j is %s without a form of address', (cell, expected) => {
    expect(parseFullName(cell)).toBe(expected);
  });

  it('a column has last names first if most cells have a comma, and enough of them show the order', () => {
    const first = (names: string[], address = '') =>
      hasLastNamesFirst(names.map((name) => ({ name, address })));
    expect(first(['García López, María', 'Novak, Ada', 'Pérez Ruiz, José', 'Berg, Mira'])).toBe(true);
    expect(first(['García López, María'], 'maria.garcia@orbit.example')).toBe(true);
    expect(first(['Ada Novak, Engineer', 'Mira Berg, Consultant'], 'ada.novak@orbit.example')).toBe(false);
    expect(first(['Ada Novak', 'Mira Berg', 'García López, María'])).toBe(false);
    expect(first([])).toBe(false);
  });

  it.each([
    ['García López, María', 'María García López'],
    ['van der Berg Smit, Anna Maria', 'Anna Maria van der Berg Smit'],
    ['Ada Novak, PhD', 'Ada Novak, PhD'],
    ['Ada Novak', 'Ada Novak'],
  ])('the full name %j of a column with last names first is %s', (cell, expected) => {
    expect(parseFullName(cell, true)).toBe(expected);
  });

  it('a text without a letter is no full name', () => {
    expect(parseFullName('-, 1')).toBeUndefined();
  });
});

describe('organizations', () => {
  it.each([
    ['The Acme Co., Ltd.', 'acme'],
    ['ACME', 'acme'],
    ['Müller GmbH & Co. KG', 'muller'],
    ['Novo Example A/S', 'novo example'],
    ['Company', 'company'],
    ['The Limited', 'limited'],
  ])('the name of an organization %j compares as %j', (name, expected) => {
    expect(organizationForm(name)).toBe(expected);
  });

  it('the name of an organization may be a number', () => {
    expect(parseOrganizationName('1800')).toBe('1800');
  });

  it.each([
    'Self-employed',
    'freelancer',
    '--',
    '[Not Provided]',
    'privat',
    'Selbstständig',
    'Rentnerin',
    'Particulier',
    'retraité',
    'Autónomo',
    'Libero professionista',
    'gepensioneerd',
    '個人',
    '#NAZWA?',
    'Unbekannt',
  ])('%j is no employer', (cell) => {
    expect(parseOrganizationName(cell)).toBeUndefined();
  });

  it.each(['Privatbank', '#paid', 'Yahoo!', 'Studentenwerk', '#Startup!'])('%j is an employer', (cell) => {
    expect(parseOrganizationName(cell)).toBe(cell);
  });
});

it('hasLastNamesFirst() ignores a cell that is too long for a name', () => {
  const rows = [
    { name: 'x'.repeat(1_000_000), address: '' },
    { name: 'García López, María', address: 'maria@acme.example' },
  ];
  expect(hasLastNamesFirst(rows)).toBe(true);
});
