import { describe, expect, it } from 'vitest';
import { columnsNamed } from '../../../src/report/figures/column-names.ts';

const phones = ['phone', 'mobile', 'telephone', 'mobilephone'];
const emails = ['email', 'mail'];

describe('columnsNamed()', () => {
  it.each([
    ['phone_work', phones],
    ['phone_home', phones],
    ['phone_jsonb', phones],
    ['Person - Phone - Work', phones],
    ['Mobile Phone Number', phones],
    ['mobilePhone', phones],
    ['telephone1', phones],
    ['Phone 1 - Value', phones],
    ['\ufeffPHONE*', phones],
    ['Work Direct Phone', phones],
    ['email_jsonb', emails],
    ['email_work', emails],
    ['Private e-mail address', emails],
    ['E-mail 1 - Value', emails],
    ['Address 1: City', ['city']],
    ['MailingCountry', ['country']],
    ['Country/Region', ['country']],
    ['Person - Job title', ['title']],
  ])('columnsNamed() finds the column %s', (name, words) => {
    expect(columnsNamed(['Record ID', name], words)).toEqual([2]);
  });

  it.each([
    ['Company Phone', phones],
    ['Asst. Phone', phones],
    ['Do not allow Phone Calls', phones],
    ['Phone Type', phones],
    ['Fax', phones],
    ['Microphone', phones],
    ['Number', phones],
    ['Email Domain', emails],
    ['Email Status', emails],
    ['Owner Email', emails],
    ['Company City', ['city']],
    ['', phones],
  ])('columnsNamed() ignores the column %s', (name, words) => {
    expect(columnsNamed([name], words)).toEqual([]);
  });
});
