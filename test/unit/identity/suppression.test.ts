import { expect, it } from 'vitest';
import { suppressionKeysOfPerson } from '../../../src/domain/identity/match-keys.ts';
import { parseSuppressionSubject } from '../../../src/domain/identity/suppression.ts';

it.each([
  ['Ada@Orbit.example', { kind: 'email', key: 'email:ada@orbit.example' }],
  ['mailto:ada@orbit.example', { kind: 'email', key: 'email:ada@orbit.example' }],
  ['info@orbit.example', { kind: 'email', key: 'email:info@orbit.example' }],
  ['https://www.linkedin.com/in/Ada-Novak/', { kind: 'profile', key: 'profile:linkedin.com/in/ada-novak' }],
  ['person:5b00f1', { kind: 'person', key: 'person:5b00f1' }],
  ['0'.repeat(31) + 'F', { kind: 'hash', key: `hash:${'0'.repeat(31)}f` }],
  ['@orbit.example', { kind: 'domain', key: 'domain:orbit.example' }],
  ['ada@bücher.example', { kind: 'email', key: 'email:ada@xn--bcher-kva.example' }],
  ['@bücher.example', { kind: 'domain', key: 'domain:xn--bcher-kva.example' }],
  ['@eu.orbit.example', { kind: 'domain', key: 'domain:orbit.example' }],
])('parseSuppressionSubject() reads the identifier %s', (text, subject) => {
  expect(parseSuppressionSubject(text)).toEqual(subject);
});

it.each(['', 'Ada Novak', '@gmail.com', '@example', 'orbit.example', 'person:', 'ada@', '5b00f1'])(
  'an entry of the suppression list is refused if it identifies no person: %o',
  (text) => {
    expect(parseSuppressionSubject(text)).toBeUndefined();
  },
);

it.each([24, 170, 500, 9_000])('a person with an id of %i characters is suppressed by the id', (length) => {
  const id = 'f'.repeat(length);
  expect(suppressionKeysOfPerson({ id })).toEqual([parseSuppressionSubject(`person:${id}`)?.key]);
});

it('a person is suppressed by the domain of the employer’s website if the primary domain is empty', () => {
  const organization = { primary_domain: '', website_url: 'https://orbit.example' };
  expect(suppressionKeysOfPerson({ id: '1', organization })).toEqual(['person:1', 'domain:orbit.example']);
});
