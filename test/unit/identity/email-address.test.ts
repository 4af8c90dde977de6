import { describe, expect, it } from 'vitest';
import {
  isRoleAddress,
  parseEmail,
  parseEmails,
  parseHashedEmail,
  isFreeMail,
} from '../../../src/domain/identity/values/email-address.ts';
import cases from '../../data/identity/email-address.json' with { type: 'json' };

describe('an address', () => {
  it.each(cases.addresses)('parseEmail() reads an address from %j', (text, expected) => {
    expect(parseEmail(text)).toBe(expected);
  });

  it.each(cases.noAddresses)('parseEmail() finds no address in %j', (text) => {
    expect(parseEmail(text)).toBeUndefined();
  });
});

describe('several addresses in a cell', () => {
  it.each(cases.severalAddresses)('several addresses in one cell are read apart from %j', (cell) => {
    expect(parseEmails(cell)).toEqual(['a1@x.example', 'a2@y.example']);
  });

  it.each([
    'left in May, ask bob@x.example instead',
    'bob@x.example (assistant)',
    'assistant: bob@x.example',
  ])('a text that can name another person has no address: %s', (cell) => {
    expect(parseEmails(cell)).toEqual([]);
  });
});

it.each(['info@x.example', 'sales@x.example', 'kontakt@x.example'])(
  '%s is the shared address of a task',
  (address) => {
    expect(isRoleAddress(address)).toBe(true);
  },
);

it('an address that begins like a task and names a person is not shared', () => {
  expect(isRoleAddress('salesh.info@x.example')).toBe(false);
});

it.each(['gmail.com', 'yahoo.co.uk', 'hotmail.fr', 'web.de', 'gmx.net'])('%s is free mail', (domain) => {
  expect(isFreeMail(domain)).toBe(true);
});

it.each(['orbit.example', 'mygmail.com.example', 'yahoo.orbit.example', 'outlook.consulting'])(
  '%s is no free mail',
  (domain) => {
    expect(isFreeMail(domain)).toBe(false);
  },
);

it('a hash is MD5 or SHA-256 in hexadecimal', () => {
  expect(parseHashedEmail(` ${'A1'.repeat(16)} `)).toBe('a1'.repeat(16));
  expect(parseHashedEmail('b2'.repeat(32))).toBe('b2'.repeat(32));
  expect(parseHashedEmail('c3'.repeat(20))).toBeUndefined();
});

it('parseEmails() reads a cell of a million characters in one pass', () => {
  expect(parseEmails(`ann@${'a'.repeat(1_000_000)}`)).toEqual([]);
  expect(parseEmails('a@b.example / '.repeat(50_000))).toHaveLength(50_000);
});
