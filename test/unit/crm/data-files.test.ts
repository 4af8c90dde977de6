import { expect, it } from 'vitest';
import { z } from 'zod';
import { checkedData, expand } from '../../../src/domain/crm/crm.ts';

it('checkedData() names the file and the place of a mistake', () => {
  const schema = z.strictObject({ importer: z.strictObject({ mostRows: z.int() }) });
  expect(() => checkedData('hubspot.json', schema, { importer: { mostRows: 'many' } })).toThrow(
    /^hubspot\.json, importer\.mostRows: /,
  );
});

it('expand() writes a header for each entry of the lists that it names', () => {
  const lists = { person: ['Person', 'Persona'], email: ['Email', '{local}'], local: ['Correo'] };
  expect(expand(['{person} - {email}', 'ID'], lists)).toEqual([
    'Person - Email',
    'Person - Correo',
    'Persona - Email',
    'Persona - Correo',
    'ID',
  ]);
  expect(() => expand(['{nobody}'], lists)).toThrow('{nobody}: no list has the name nobody');
});
