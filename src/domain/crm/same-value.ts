import { parseEmail } from '../identity/email-address.ts';
import { comparisonForm, organizationForm } from '../identity/normalise.ts';
import { parseProfileUrl } from '../identity/profile-url.ts';
import type { ImportField } from './importer.ts';

/** Whether two values of a field are equal except for their spelling. */
export function sameValue(field: ImportField, one: string, other: string): boolean {
  if (field === 'phone' || field === 'mobile_phone') return isSameNumber(one, other);
  const form = forms[field];
  return form(one) === form(other);
}

const name = (text: string): string => comparisonForm(text);

const forms: Readonly<Record<Exclude<ImportField, 'phone' | 'mobile_phone'>, (text: string) => string>> = {
  first_name: name,
  last_name: name,
  title: name,
  email: (text) => parseEmail(text) ?? name(text),
  city: name,
  state: name,
  country: name,
  organization_name: (text) => organizationForm(text),
  linkedin_url: (text) => parseProfileUrl(text) ?? name(text),
};

/** Digits that suffice to compare two numbers: exports mix national and international spelling. */
const comparedDigits = 9;
/** A number with fewer digits may be the end of many others. */
const fewestDigits = 7;

/** Whether one number is the other, perhaps without its country. Nothing is written if they are the same. */
function isSameNumber(one: string, other: string): boolean {
  const [shorter, longer] = [digitsOf(one), digitsOf(other)].sort((a, b) => a.length - b.length) as [
    string,
    string,
  ];
  if (shorter.length < fewestDigits)
    return shorter === longer && (shorter !== '' || name(one) === name(other));
  return longer.endsWith(shorter) || longer.slice(-comparedDigits) === shorter.slice(-comparedDigits);
}

/** The digits of a number, without its extension and the zeros that replace a country or an area. */
function digitsOf(text: string): string {
  const number = text.replace(/\s*(?:;?\s*ext\.?=?|x|#)\s*\d+\s*$/i, '');
  return number.replaceAll(/\D/g, '').replace(/^0+/, '');
}
