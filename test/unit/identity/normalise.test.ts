import { describe, expect, it } from 'vitest';
import {
  comparisonForm,
  displayForm,
  organizationForm,
  parseFullName,
  parseName,
  parseOrganizationName,
} from '../../../src/domain/identity/normalise.ts';

describe('the display form', () => {
  it.each([
    ['Ada', 'Ada'],
    ['  Ada \u00a0 Marie\t', 'Ada Marie'],
    ['A\u0000da\u200b', 'Ada'],
    ['Jose\u0301', 'José'],
    ['\ud800Ada', 'Ada'],
    ['می\u200cخواهم', 'می\u200cخواهم'],
    ['\u0000\u200b ', ''],
  ])('the display form of %j is %j', (text, expected) => {
    expect(displayForm(text)).toBe(expected);
  });
});

describe('the comparison form', () => {
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
});

describe('names', () => {
  it.each(['', '-', '12345', 'n/a', 'NULL', '[not provided]', 'x'.repeat(301)])(
    '%j is no name of a person',
    (cell) => {
      expect(parseName(cell)).toBeUndefined();
    },
  );

  it.each(['Null', 'Na', 'O', 'Ng', '李'])('%j is a name of a person', (cell) => {
    expect(parseName(cell)).toBe(cell);
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

  it.each(['Self-employed', 'freelancer', '--', '[Not Provided]'])('%j is no employer', (cell) => {
    expect(parseOrganizationName(cell)).toBeUndefined();
  });
});
