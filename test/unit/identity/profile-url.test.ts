import { describe, expect, it } from 'vitest';
import { parseDomain } from '../../../src/domain/identity/values/email-address.ts';
import { findWrittenProfileUrl, parseProfileUrl } from '../../../src/domain/identity/values/profile-url.ts';
import cases from '../../data/identity/profile-url.json' with { type: 'json' };

describe('a profile URL', () => {
  it.each(cases.forms)('a profile URL has one form: %s', (url) => {
    expect(parseProfileUrl(url)).toBe('linkedin.com/in/ada-novak');
  });

  it('a profile URL is decoded', () => {
    expect(parseProfileUrl('https://www.linkedin.com/in/jos%C3%A9')).toBe('linkedin.com/in/josé');
  });

  it.each(cases.encodings)('a profile URL has one form in each encoding and with each suffix: %j', (url) => {
    expect(parseProfileUrl(url)).toBe('linkedin.com/in/josé');
  });

  it('a profile URL of the older kind is read', () => {
    expect(parseProfileUrl('https://uk.linkedin.com/pub/ada-novak/1a/2b/3c')).toBe(
      'linkedin.com/pub/ada-novak/1a/2b/3c',
    );
  });

  it.each(cases.noProfiles)('%j is no profile URL', (cell) => {
    expect(parseProfileUrl(cell)).toBeUndefined();
  });
});

describe('the domain of an employer', () => {
  it.each(cases.domains)('the domain of an employer is read from %j', (cell, expected) => {
    expect(parseDomain(cell)).toBe(expected);
  });

  it.each(cases.noDomains)('%j has no domain of an employer', (cell) => {
    expect(parseDomain(cell)).toBeUndefined();
  });
});

it.each([
  ['http://www.linkedin.com/in/Ada-Novak/'],
  ['https://linkedin.com/in/ada-novak'],
  ['https://www.linkedin.com/in/ada%2Dnovak'],
])('findWrittenProfileUrl() finds a profile URL as the row writes it: %s', (cell) => {
  const cells = ['Ada', 'https://www.linkedin.com/in/ada-novak-2', ` ${cell} `];
  expect(findWrittenProfileUrl(cells, 'linkedin.com/in/ada-novak')).toBe(cell);
});

it.each(cases.notWritten)('findWrittenProfileUrl() finds no profile URL %s', (_, cell) => {
  expect(findWrittenProfileUrl([cell], 'linkedin.com/in/ada-novak')).toBeUndefined();
});
