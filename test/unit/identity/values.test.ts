import { describe, expect, it } from 'vitest';
import {
  isFreeMailDomain,
  isSharedMailbox,
  parseDomain,
  parseEmail,
  parseEmails,
  parseHashedEmail,
} from '../../../src/domain/identity/values/email-address.ts';
import {
  comparisonForm,
  displayForm,
  organizationComparisonForm,
  parseFullName,
  parseName,
  parseOrganizationName,
} from '../../../src/domain/identity/values/normalise.ts';
import { findWrittenProfileUrl, parseProfileUrl } from '../../../src/domain/identity/values/profile-url.ts';
import cases from '../../data/identity/values.json' with { type: 'json' };

/** The tested functions, each with its examples in values.json under the same name. Null there means undefined. */
const functions: Readonly<Record<keyof typeof cases, (cell: string) => unknown>> = {
  parseEmail,
  parseEmails,
  isRoleAddress: isSharedMailbox,
  isFreeMail: isFreeMailDomain,
  parseHashedEmail,
  parseProfileUrl,
  parseDomain,
  displayForm,
  comparisonForm,
  parseName,
  parseFullName,
  organizationForm: organizationComparisonForm,
  parseOrganizationName,
  writtenProfileUrl: (cell) => findWrittenProfileUrl(['Ada', cell], 'linkedin.com/in/ada-novak'),
};

describe.each(Object.entries(functions))('%s()', (name, read) => {
  it.each(cases[name as keyof typeof cases] as [string, unknown][])(
    `${name}() reads %j as %j`,
    (cell, expected) => expect(read(cell) ?? null).toEqual(expected),
  );
});

it('displayForm() drops half of a surrogate pair', () => expect(displayForm('\ud800Ada')).toBe('Ada'));

it('comparisonForm() keeps vowel signs that are combining marks', () => {
  expect(comparisonForm('कि')).not.toBe(comparisonForm('कु'));
});

it('parseEmails() reads a cell of a million characters in linear time', () => {
  expect(parseEmails(`ann@${'a'.repeat(1_000_000)}`)).toEqual([]);
  expect(parseEmails('a@b.example / '.repeat(50_000))).toHaveLength(50_000);
});
