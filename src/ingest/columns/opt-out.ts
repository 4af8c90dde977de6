import { displayForm } from '../../domain/identity/normalise.ts';
import { headerKey } from './header-name.ts';

/**
 * How a column says that a contact must not be processed.
 *
 * - `refusal`: the column states a refusal ("Email Opt Out", "Do not allow Emails", "Unsubscribed Time", "IsDeleted"):
 *   whatever it holds is one, but for a plain no.
 * - `consent`: the column states a consent ("Allow Emails?", "Marketing status"): only a plain no or a word of refusal
 *   is one.
 *
 * Empty says nothing: neither consent nor refusal.
 */
export type OptOutPolarity = 'refusal' | 'consent';

const refusalHeader =
  /opt(?:ed)?out|unsubscri|dono?t(?:contact|e?mail|bulk|call|phone|fax|post|allow|enrich|process|market|sell|track)|suppress|blacklist|blocklist|gdprdelete|^isdeleted$|^fivetrandeleted$|^masterrecordid$/;
const consentHeader =
  /consent|legalbasis|^allow|marketing(?:email)?(?:confirmation)?status|doubleoptin|^optin$|^optedin$/;

/** @returns undefined where the column is about something else */
export function optOutPolarity(header: string): OptOutPolarity | undefined {
  const key = headerKey(header);
  if (refusalHeader.test(key)) return 'refusal';
  return consentHeader.test(key) ? 'consent' : undefined;
}

const plainNo = new Set(
  ['0', 'false', 'no', 'n', 'f', 'off', 'none', 'unchecked', 'never', 'null', '-'].concat(
    // What these say of a refusal: there is none.
    ['allow', 'allowed', 'subscribed', 'not opted out', 'nein', 'non', 'nej', 'nee', 'falsch', 'faux'],
  ),
);

const plainRefusal = new Set([
  '0',
  'false',
  'no',
  'n',
  'f',
  'off',
  'nein',
  'non',
  'nej',
  'nee',
  'falsch',
  'faux',
]);
const refusalWords =
  /unsubscri|opt(?:ed)?[ -]?out|do ?n[o']t|not allow|withdr[ae]w|revoked|refused|declined|denied|rejected|objected|no[ _]consent|archived/;

/**
 * Whether a cell says that the contact has opted out.
 *
 * @param values instead of the rule of the polarity: the values, in lower case, that mean so
 */
export function isOptedOut(cell: string, polarity: OptOutPolarity, values?: ReadonlySet<string>): boolean {
  if (cell === '') return false;
  const value = displayForm(cell).toLowerCase();
  if (value === '') return false;
  if (values) return values.has(value);
  if (polarity === 'refusal') return !plainNo.has(value);
  return plainRefusal.has(value) || refusalWords.test(value);
}
