import { describe, expect, it } from 'vitest';
import {
  comparisonForm,
  displayForm,
  organizationForm,
  parseFullName,
  parseName,
  parseOrganizationName,
} from '../../../src/domain/identity/values/normalise.ts';
import cases from '../../data/identity/normalise.json' with { type: 'json' };

it.each([...cases.displayForms, ['\ud800Ada', 'Ada']])('the display form of %j is %j', (text, expected) => {
  expect(displayForm(text)).toBe(expected);
});

it.each(cases.comparisonForms)('the comparison form of %j is %j', (text, expected) => {
  expect(comparisonForm(text)).toBe(expected);
});

it('the comparison form keeps vowel signs that are combining marks', () => {
  expect(comparisonForm('कि')).not.toBe(comparisonForm('कु'));
});

describe('names', () => {
  it.each(cases.noNames)('%j is no name of a person', (cell) => {
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
  it.each(cases.entities)('the entities of the name %s are read: %s', (cell, name) => {
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

describe('full names', () => {
  it.each(cases.lastNameFirst)('the full name %j has the last name first and is %s', (cell, expected) => {
    expect(parseFullName(cell)).toBe(expected);
  });

  it.each(cases.orderKept)('the order of the full name %j is kept', (cell) => {
    expect(parseFullName(cell)).toBe(cell);
  });

  it.each(cases.formsOfAddress)('the full name %j is %s without a form of address', (cell, expected) => {
    expect(parseFullName(cell)).toBe(expected);
  });

  it('a text without a letter is no full name', () => {
    expect(parseFullName('-, 1')).toBeUndefined();
  });
});

describe('organizations', () => {
  it.each(cases.organizations)('the name of an organization %j compares as %j', (name, expected) => {
    expect(organizationForm(name)).toBe(expected);
  });

  it('the name of an organization may be a number', () => {
    expect(parseOrganizationName('1800')).toBe('1800');
  });

  it.each(cases.noEmployers)('%j is no employer', (cell) => {
    expect(parseOrganizationName(cell)).toBeUndefined();
  });

  it.each(['Privatbank', '#paid', 'Yahoo!', 'Studentenwerk', '#Startup!'])('%j is an employer', (cell) => {
    expect(parseOrganizationName(cell)).toBe(cell);
  });
});
