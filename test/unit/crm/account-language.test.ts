import { describe, expect, it } from 'vitest';
import { importers, type Importer, type ImportField } from '../../../src/domain/crm/crm.ts';
import { inAccountLanguage } from '../../../src/domain/crm/crm.ts';

/** The headers of an import file, by field. */
function headers(importer: Importer, exported: string[]): Partial<Record<ImportField, string>> {
  const { columns } = inAccountLanguage(importer, [exported]);
  return Object.fromEntries(Object.entries(columns).map(([field, column]) => [field, column.header]));
}

describe('inAccountLanguage()', () => {
  it.each([
    ['Polish', ['Imię', 'Nazwisko', 'Stanowisko', 'Miasto', 'Nazwa firmy']],
    ['Swedish', ['Förnamn', 'Efternamn', 'Befattning', 'Stad', 'Företagsnamn']],
    ['Italian', ['Nome', 'Cognome', 'Qualifica', 'Città', 'Nome azienda']],
    ['Turkish', ['Ad', 'Soyad', 'Unvan', 'Şehir', 'Şirket adı']],
    ['Russian', ['Имя', 'Фамилия', 'Должность', 'Город', 'Название компании']],
    ['Korean', ['이름', '성', '직책', '도시', '회사 이름']],
  ])('names the fields as a %s export of HubSpot does', (_, labels) => {
    const [first_name, last_name, title, city, organization_name] = labels;
    expect(headers(importers.hubspot, labels)).toMatchObject({
      first_name,
      last_name,
      title,
      city,
      organization_name,
    });
  });

  it('names the places of a Chinese export of Dynamics 365', () => {
    expect(
      headers(importers.dynamics, ['地址 1: 市/县', '地址 1: 省/市/自治区', '地址 1: 国家/地区']),
    ).toMatchObject({
      city: '地址 1: 市/县',
      state: '地址 1: 省/市/自治区',
      country: '地址 1: 国家/地区',
    });
  });

  it.each(['Persona - Nombre', 'Pessoa - Nome', 'Personne - Nom'])(
    'does not take the column %s of whole names in Pipedrive for first or last names',
    (name) => {
      expect(headers(importers.pipedrive, [name])).toMatchObject({
        first_name: 'Person - First name',
        last_name: 'Person - Last name',
      });
    },
  );

  it('leaves out a label that is a country in Polish and a region in Czech', () => {
    expect(headers(importers.hubspot, ['Kraj'])).toMatchObject({
      country: 'Country/Region',
      state: 'State/Region',
    });
  });
});
