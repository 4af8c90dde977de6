import { describe, expect, it } from 'vitest';
import {
  isRoleAddress,
  parseEmail,
  parseEmails,
  parseHashedEmail,
  isFreeMail,
} from '../../../src/domain/identity/values/email-address.ts';

describe('an address', () => {
  it.each([
    ['Ada.Novak@Orbit.Example', 'ada.novak@orbit.example'],
    [' ada@orbit.example ', 'ada@orbit.example'],
    ['mailto:ada@orbit.example?subject=hi', 'ada@orbit.example'],
    ['Ada Novak <ada@orbit.example>', 'ada@orbit.example'],
    ['ada@orbit.example <ada@orbit.example>', 'ada@orbit.example'],
    ['(ada@orbit.example)', 'ada@orbit.example'],
    ['Work: ada@orbit.example', 'ada@orbit.example'],
    ["'ada@orbit.example'", 'ada@orbit.example'],
    ["o'brien+crm@orbit.example", "o'brien+crm@orbit.example"],
    ['josé@münchen.example', 'josé@xn--mnchen-3ya.example'],
    ['a\u200bda@orbit.example', 'ada@orbit.example'],
  ])('parseEmail() reads an address from %j', (text, expected) => {
    expect(parseEmail(text)).toBe(expected);
  });

  it.each([
    'ada',
    'ada@orbit',
    '@orbit.example',
    'ada@@orbit.example',
    'ada@orbit.example, but ask first',
    'ada/bob@orbit.example',
    'bob@orbit.example <ada@orbit.example>',
    'email_not_unlocked@domain.com',
    'noreply@orbit.example',
    'none@none.com',
    'test@test.com',
    'ada@orbit.example.invalid',
    `${'a'.repeat(65)}@orbit.example`,
    `ada@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(63)}.example`,
  ])('parseEmail() finds no address in %j', (text) => {
    expect(parseEmail(text)).toBeUndefined();
  });
});

describe('several addresses in a cell', () => {
  it.each([
    'a1@x.example; a2@y.example',
    'a1@x.example,a2@y.example',
    'a1@x.example ::: a2@y.example',
    'a1@x.example\na2@y.example',
    'a1@x.example / a2@y.example',
    'a1@x.example/a2@y.example',
    'a1@x.example & a2@y.example',
    'a1@x.example (work), a2@y.example [privat]',
    'a1@x.example (Work) a2@y.example (home)',
    'work: a1@x.example; home: a2@y.example',
    'a1@x.example a2@y.example',
    'a1@x.example|;nothing; A Two <a2@y.example>',
  ])('several addresses in one cell are read apart from %j', (cell) => {
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
