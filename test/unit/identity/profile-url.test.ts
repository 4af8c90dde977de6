import { describe, expect, it } from 'vitest';
import { parseDomain } from '../../../src/domain/identity/values/email-address.ts';
import { findWrittenProfileUrl, parseProfileUrl } from '../../../src/domain/identity/values/profile-url.ts';

describe('a profile URL', () => {
  it.each([
    'https://www.linkedin.com/in/Ada-Novak/',
    'http://linkedin.com/in/ada-novak?trk=people#top',
    'de.linkedin.com/in/ada-novak/en',
    '//m.linkedin.com/mwlite/in/ada-novak',
    ' LINKEDIN.COM/IN/ADA-NOVAK ',
    'https://www.linkedin.com/comm/in/ada-novak?midToken=x',
    'https://www.linkedin.com/in/ada%2Dnovak',
  ])('a profile URL has one form: %s', (url) => {
    expect(parseProfileUrl(url)).toBe('linkedin.com/in/ada-novak');
  });

  it('a profile URL is decoded', () => {
    expect(parseProfileUrl('https://www.linkedin.com/in/jos%C3%A9')).toBe('linkedin.com/in/josé');
  });

  it.each([
    'https://www.linkedin.com/in/josé',
    'https://www.linkedin.com/in/jose\u0301/',
    'https://www.linkedin.com/in/JOS%C3%89?trk=x',
    'https://www.linkedin.com/in/jos%25C3%25A9',
    'https://www.linkedin.com/in/jos%c3%a9/es',
    'https://www.de.linkedin.com/in/jos\u200b%C3%A9/details/experience/',
  ])('a profile URL has one form in each encoding and with each suffix: %j', (url) => {
    expect(parseProfileUrl(url)).toBe('linkedin.com/in/josé');
  });

  it('a profile URL of the older kind is read', () => {
    expect(parseProfileUrl('https://uk.linkedin.com/pub/ada-novak/1a/2b/3c')).toBe(
      'linkedin.com/pub/ada-novak/1a/2b/3c',
    );
  });

  it.each([
    'https://www.linkedin.com/company/orbit',
    'https://www.linkedin.com/in/',
    'https://www.linkedin.com/in/%00%09',
    'https://www.linkedin.com/in/%ZZ"x',
    'ada-novak',
    'https://orbit.example/team/ada',
    '',
  ])('%j is no profile URL', (cell) => {
    expect(parseProfileUrl(cell)).toBeUndefined();
  });
});

describe('the domain of an employer', () => {
  it.each([
    ['https://www.orbit.co.uk/about?x=1', 'orbit.co.uk'],
    ['@Orbit.Example', 'orbit.example'],
    ['ada@orbit.example', 'orbit.example'],
    ['uk.orbit.example', 'orbit.example'],
    ['orbit.github.io', 'orbit.github.io'],
    ['facebook.com', 'facebook.com'],
    ['www.bücher.example', 'xn--bcher-kva.example'],
    ['https://orbit.example/?from=ben@acme.example', 'orbit.example'],
    ['orbit.example/contact#ben@acme.example', 'orbit.example'],
    ['https://ada:pass@orbit.example/', 'orbit.example'],
    ['Orbit / ada@orbit.example', 'orbit.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['https://XN--BCHER-KVA.example/über-uns', 'xn--bcher-kva.example'],
  ])('the domain of an employer is read from %j', (cell, expected) => {
    expect(parseDomain(cell)).toBe(expected);
  });

  it.each([
    'gmail.com',
    'https://www.facebook.com/orbit',
    'https://www.youtube.com/@orbit',
    'https://social.example/@orbit',
    'co.uk',
    'orbit',
    '10.0.0.1',
    '1.50',
    '',
    'see www',
  ])('%j has no domain of an employer', (cell) => {
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

it.each([
  ['without a scheme', 'www.linkedin.com/in/ada-novak'],
  ['with a query', 'https://linkedin.com/in/ada-novak?trk=people'],
  ['at a country host', 'https://de.linkedin.com/in/ada-novak'],
  ['in a language', 'https://linkedin.com/in/ada-novak/en'],
  ['that is encoded twice', 'https://linkedin.com/in/ada%252Dnovak'],
  ['beside other text', 'Ada: https://linkedin.com/in/ada-novak'],
])('findWrittenProfileUrl() finds no profile URL %s', (_, cell) => {
  expect(findWrittenProfileUrl([cell], 'linkedin.com/in/ada-novak')).toBeUndefined();
});
