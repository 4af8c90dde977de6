import { expect, it } from 'vitest';
import { importers, inAccountLanguage, type ImporterName } from '../../../src/domain/crm/crm.ts';

it.each([
  ['hubspot', 'first_name last_name title city', 'Imię|Nazwisko|Stanowisko|Miasto'],
  ['hubspot', 'first_name last_name title city', 'Förnamn|Efternamn|Befattning|Stad'],
  ['hubspot', 'first_name last_name title city', 'Nome|Cognome|Qualifica|Città'],
  ['hubspot', 'first_name last_name title city', 'Ad|Soyad|Unvan|Şehir'],
  ['hubspot', 'first_name last_name title city', 'Имя|Фамилия|Должность|Город'],
  ['hubspot', 'first_name last_name title city', '이름|성|직책|도시'],
  ['dynamics', 'city state country', '地址 1: 市/县|地址 1: 省/市/自治区|地址 1: 国家/地区'],
] as const)(
  'inAccountLanguage() names the fields of %s as an export does: %s by %s',
  (name, fields, labels) => {
    const { columns } = inAccountLanguage(importers[name], [labels.split('|')]);
    const headers = Object.entries(columns).map(([field, { header }]) => [field, header]);
    const expected = fields.split(' ').map((field, at) => [field, labels.split('|')[at]]);
    expect(Object.fromEntries(headers)).toMatchObject(Object.fromEntries(expected));
  },
);

it.each<[ImporterName, string]>([
  // Columns of whole names, and a label that is a country in Polish and a region in Czech.
  ['pipedrive', 'Persona - Nombre'],
  ['pipedrive', 'Pessoa - Nome'],
  ['pipedrive', 'Personne - Nom'],
  ['hubspot', 'Kraj'],
])('inAccountLanguage() leaves the headers of %s English beside the column %s', (name, label) => {
  expect([...inAccountLanguage(importers[name], [[label]]).exported]).toEqual([]);
});
