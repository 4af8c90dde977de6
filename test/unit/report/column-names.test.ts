import { expect, it } from 'vitest';
import { columnsNamed, type NamedField } from '../../../src/report/figures/column-names.ts';

it.each<[string, NamedField]>([
  ['phone_work', 'phone'],
  ['phone_home', 'phone'],
  ['phone_jsonb', 'phone'],
  ['Person - Phone - Work', 'phone'],
  ['Mobile Phone Number', 'phone'],
  ['mobilePhone', 'phone'],
  ['telephone1', 'phone'],
  ['Phone 1 - Value', 'phone'],
  ['\ufeffPHONE*', 'phone'],
  ['Work Direct Phone', 'phone'],
  ['email_jsonb', 'email'],
  ['email_work', 'email'],
  ['Private e-mail address', 'email'],
  ['E-mail 1 - Value', 'email'],
  ['Address 1: City', 'city'],
  ['MailingCountry', 'country'],
  ['Country/Region', 'country'],
  ['Person - Job title', 'title'],
  ['Telefonnummer', 'phone'],
  ['Mobiltelefonnummer', 'phone'],
  ['Téléphone', 'phone'],
  ['Persona - Teléfono - Trabajo', 'phone'],
  ['携帯電話番号', 'phone'],
  ['Stadt', 'city'],
  ['Ville postale', 'city'],
  ['Adresse 1: Ort', 'city'],
  ['Land/Region', 'country'],
  ['Jobtitel', 'title'],
  ['Titre', 'title'],
])('columnsNamed() finds the column %s', (name, field) => {
  expect(columnsNamed(['Record ID', name], field)).toEqual([2]);
});

it.each<[string, NamedField]>([
  ['Company Phone', 'phone'],
  ['Asst. Phone', 'phone'],
  ['Do not allow Phone Calls', 'phone'],
  ['Phone Type', 'phone'],
  ['Fax', 'phone'],
  ['Microphone', 'phone'],
  ['Number', 'phone'],
  ['Email Domain', 'email'],
  ['Email Status', 'email'],
  ['Owner Email', 'email'],
  ['Company City', 'city'],
  ['', 'phone'],
  ['Telefon der Firma', 'phone'],
  ['Land/Region', 'city'],
])('columnsNamed() ignores the column %s', (name, field) => {
  expect(columnsNamed([name], field)).toEqual([]);
});
