import { parseEmail } from '../identity/email-address.ts';
import { comparisonForm, organizationForm } from '../identity/normalise.ts';
import { parseProfileUrl } from '../identity/profile-url.ts';
import type { ImportField } from './importer.ts';

/** Whether two values of a field are equal except for their spelling. */
export function sameValue(field: ImportField, one: string, other: string): boolean {
  const form = forms[field];
  return form(one) === form(other);
}

const name = (text: string): string => comparisonForm(text);

const forms: Readonly<Record<ImportField, (text: string) => string>> = {
  first_name: name,
  last_name: name,
  title: name,
  email: (text) => parseEmail(text) ?? name(text),
  phone: phoneForm,
  mobile_phone: phoneForm,
  city: name,
  state: name,
  country: name,
  organization_name: (text) => organizationForm(text),
  linkedin_url: (text) => parseProfileUrl(text) ?? name(text),
};

/**
 * Number of compared digits: exports mix national and international spelling, and country prefixes differ in
 * length.
 */
const comparedDigits = 9;

/**
 * The last digits of the number without its extension. Numbers with equal last digits count as the same, so
 * nothing is written.
 */
function phoneForm(text: string): string {
  const number = text.replace(/\s*(?:;?\s*ext\.?=?|x|#)\s*\d+\s*$/i, '');
  const digits = number.replaceAll(/\D/g, '');
  return digits === '' ? name(text) : digits.slice(-comparedDigits);
}
