import { parseEmail } from '../identity/values/email-address.ts';
import { comparisonForm, organizationComparisonForm } from '../identity/values/normalise.ts';
import { parseProfileUrl } from '../identity/values/profile-url.ts';
import type { ImportField } from './crm.ts';

/** True if two values of a field are equal except for their spelling. */
export function sameValue(field: ImportField, one: string, other: string): boolean {
  if (field === 'phone' || field === 'mobile_phone') return isSameNumber(one, other);
  const form = forms[field];
  return form(one) === form(other);
}

const name = (text: string): string => comparisonForm(text);

/** The form in which two values of a field are compared. */
const forms: Readonly<Record<Exclude<ImportField, 'phone' | 'mobile_phone'>, (text: string) => string>> = {
  first_name: name,
  last_name: name,
  title: name,
  email: (text) => parseEmail(text) ?? name(text),
  city: name,
  state: name,
  country: countryForm,
  organization_name: (text) => organizationComparisonForm(text),
  linkedin_url: (text) => parseProfileUrl(text) ?? name(text),
};

/** Languages in which the product understands country names of exports. */
const countryLanguages = 'en de fr es nl pt it pl sv da nb fi cs sk hu ro tr ru uk ja zh zh-Hant ko'.split(
  ' ',
);
/** Short names of countries that the language data of Node.js does not contain. */
const otherCountryNames = {
  usa: 'US',
  'united states of america': 'US',
  uk: 'GB',
  'great britain': 'GB',
  england: 'GB',
  turkey: 'TR',
  'czech republic': 'CZ',
};
let countries: ReadonlyMap<string, string> | undefined;

/** Returns the code of a country from its code or known name; any other text in comparison form. */
function countryForm(text: string): string {
  countries ??= codesOfCountries();
  return countries.get(name(text)) ?? name(text);
}

/** Codes of countries by their names in all {@link countryLanguages}, and by the codes themselves. */
function codesOfCountries(): Map<string, string> {
  const codes = new Map<string, string>();
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');
  for (const language of countryLanguages) {
    const names = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' });
    for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
      const known = names.of(code);
      // The locale replaces former codes, for example UK by GB.
      const current = new Intl.Locale(`und-${code}`).region ?? code;
      if (known !== undefined) codes.set(name(known), current).set(name(code), current);
    }
  }
  for (const [known, code] of Object.entries(otherCountryNames)) codes.set(known, code);
  return codes;
}

/** Number of last digits of a phone number that are compared. Exports mix national and international spelling. */
const comparedDigits = 9;
/** Minimum number of digits for a comparison. A shorter number may be the end of many other numbers. */
const fewestDigits = 7;

/** True if two phone numbers are equal, even if one lacks the country code. */
function isSameNumber(one: string, other: string): boolean {
  const [shorter, longer] = [digitsOf(one), digitsOf(other)].sort((a, b) => a.length - b.length);
  if (shorter!.length < fewestDigits)
    return shorter === longer && (shorter !== '' || name(one) === name(other));
  return longer!.endsWith(shorter!) || longer!.slice(-comparedDigits) === shorter!.slice(-comparedDigits);
}

/** The digits of a phone number without extension and without the leading zeros of national numbers. */
function digitsOf(text: string): string {
  // Only the end is trimmed: a pattern with optional blanks before the extension would take minutes for a blank cell.
  const number = text.trimEnd().replace(/(?:ext\.?=?|x|#)\s*\d+$/i, '');
  return number.replaceAll(/\D/g, '').replace(/^0+/, '');
}
