import { expect, it } from 'vitest';
import { Population } from '../../../src/sandbox/population.ts';
import { sampleExport } from '../../../src/sandbox/sample-export.ts';

const population = new Population({ matchRate: 1 });

it('a person of the sandbox is found by each identifier, and no two people share one', () => {
  const numbers = [...Array(300).keys(), 5_000, 5_001, 99_999];
  const people = numbers.map((number) => population.numbered(number));
  for (const person of people) {
    const { id, email, profileUrl } = person;
    expect(population.find({ id })).toEqual(person);
    expect(population.find({ proflink_url: profileUrl.toUpperCase() })).toEqual(person);
    if (email !== null) expect(population.find({ email: email.toUpperCase() })).toEqual(person);
  }
  const emails = people.flatMap(({ email }) => email ?? []);
  expect(new Set(emails).size).toBe(emails.length);
});

it('the sample export has unambiguous people of several countries, and typical flaws', () => {
  const [header = '', ...rows] = [...sampleExport({ people: 300, seed: 1 })].map((line) => line.trimEnd());
  const columns = header.split(',');
  const people = rows.map((row) => Object.fromEntries(row.split(',').map((cell, at) => [columns[at], cell])));
  const cells = (column: string) => people.map((person) => person[column] ?? '');
  const emails = cells('Email').filter((email) => email !== '');
  expect(new Set(cells('Country/Region')).size).toBe(6);
  expect(emails.filter((email) => !/^[a-z]+\.[a-z]+@[a-z]+-[a-z]+\.example$/i.test(email))).toEqual([]);
  const repeated = emails.length - new Set(emails.map((email) => email.toLowerCase())).size;
  const unsubscribed = cells('Unsubscribed from all email').filter((cell) => cell === 'true').length;
  const withoutIdentifier = cells('Last Name').filter((name) => name === '').length;
  for (const count of [repeated, unsubscribed, withoutIdentifier]) {
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(20);
  }
});
