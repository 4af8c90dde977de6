import { expect, it } from 'vitest';
import { importers, inAccountLanguage, type ImporterName } from '../../../src/domain/crm/crm.ts';

it.each([
  ['hubspot', 'first_name last_name title city', 'Imię|Nazwisko|Stanowisko|Miasto', 'Record ID'],
  ['hubspot', 'first_name last_name title city', 'Ad|Soyad|Unvan|Şehir', 'Record ID'],
  ['hubspot', 'first_name last_name title city', '이름|성|직책|도시', '레코드 ID'],
  ['hubspot', 'first_name title phone', 'Vorname|Jobtitel|Telefonnummer', 'Datensatz-ID'],
  ['dynamics', 'city state country', '地址 1: 市/县|地址 1: 省/市/自治区|地址 1: 国家/地区', 'Contact'],
  ['dynamics', 'first_name country', 'Prénom|Adresse 1 : Pays/région', 'Contact'],
  [
    'pipedrive',
    'first_name phone',
    'Person - Vorname|Person - Telefon - Büro',
    'Person - Pipedrive System ID',
  ],
] as const)(
  'inAccountLanguage() names the fields of %s as the newest export does: %s by %s',
  (name, fields, labels, id) => {
    const exports = [[id, ...labels.split('|')], ['Notes']];
    const { columns, idHeader, exported } = inAccountLanguage(importers[name], exports);
    const headers = Object.entries(columns).map(([field, { header }]) => [field, header]);
    const expected = fields.split(' ').map((field, at) => [field, labels.split('|')[at]]);
    expect(Object.fromEntries(headers)).toMatchObject(Object.fromEntries(expected));
    expect([...exported].toSorted()).toEqual(fields.split(' ').toSorted());
    expect(idHeader).toBe(id);
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
