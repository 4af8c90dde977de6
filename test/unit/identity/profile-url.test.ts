import { describe, expect, it } from 'vitest';
import { parseDomain } from '../../../src/domain/identity/domain-name.ts';
import { parseProfileUrl } from '../../../src/domain/identity/profile-url.ts';

describe('a profile URL', () => {
  it.each([
    'https://www.linkedin.com/in/Ada-Novak/',
    'http://linkedin.com/in/ada-novak?trk=people#top',
    'de.linkedin.com/in/ada-novak/en',
    '//m.linkedin.com/mwlite/in/ada-novak',
    ' LINKEDIN.COM/IN/ADA-NOVAK ',
    'https://www.linkedin.com/in/ada%2Dnovak',
  ])('has one form: %s', (url) => {
    expect(parseProfileUrl(url)).toBe('linkedin.com/in/ada-novak');
  });

  it('is decoded', () => {
    expect(parseProfileUrl('https://www.linkedin.com/in/jos%C3%A9')).toBe('linkedin.com/in/josé');
  });

  it('may be of the older kind', () => {
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
  ])('is not %j', (cell) => {
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
  ])('is read from %j', (cell, expected) => {
    expect(parseDomain(cell)).toBe(expected);
  });

  it.each([
    'gmail.com',
    'https://www.facebook.com/orbit',
    'co.uk',
    'orbit',
    '10.0.0.1',
    '1.50',
    '',
    'see www',
  ])('is not in %j', (cell) => {
    expect(parseDomain(cell)).toBeUndefined();
  });
});
