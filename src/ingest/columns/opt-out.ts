import { displayForm } from '../../domain/identity/normalise.ts';
import { headerKey } from '../../domain/text/header-name.ts';
import { listed } from '../../domain/text/listed.ts';

/**
 * How a column states an opt-out.
 *
 * - `refusal`: the column states a refusal ("Email Opt Out", "Do not allow Emails", "Unsubscribed Time", "IsDeleted"):
 * every value except a plain no means opted out.
 * - `consent`: the column states a consent ("Allow Emails?", "Marketing status"): only a plain no or a word of refusal
 * means opted out.
 *
 * An empty cell means neither.
 */
export type OptOutPolarity = 'refusal' | 'consent';

/** What an opt-out forbids: any lookup of the contact (`processing`), or asking for phone numbers (`calls`). */
export type OptOutScope = 'processing' | 'calls';

export interface OptOutMeaning {
  readonly polarity: OptOutPolarity;
  readonly scope: OptOutScope;
}

const refusalHeader = new RegExp(
  [
    'opt(?:ed)?out|unsubscri|suppress|blacklist|blocklist|gdprdelete|^isdeleted$|^fivetrandeleted$|^masterrecordid$',
    'dono?t(?:contact|e?mail|bulk|call|phone|fax|post|sms|text|allow|enrich|process|market|sell|track)',
    'abgemeldet|abmeldung|widerspr[uo]ch|(?:kontakt|werbe|mail|anruf)sperre',
    '(?:keine?|nicht)(?:e?mail|werb|kontakt|anruf|telefon|fax|anschreib|mailen)',
    'désabonn|désinscri|opposition|nepas(?:contacter|appeler|envoyer|solliciter|autoriser|téléphoner)',
    'no(?:contactar|llamar|enviar|permitir)|dado?debaja|cancel.*(?:suscri|inscri|assinatura)',
    'uitgeschreven|afgemeld|niet(?:bellen|mailen|benaderen|contacteren|toestaan)|geen(?:e?mail|contact|telefoon)',
    'nãocontat|nãoligar|nãoenviar|nãopermitir|descadastr',
  ].join('|'),
  'u',
);
const consentHeader = new RegExp(
  [
    'consent|legalbasis|^allow|marketing(?:email)?(?:confirmation)?status|einwilligung|zustimmung|toestemming',
    'doubleoptin|^opt(?:ed)?in$|(?:mail|contact|phone|call|sms)s?opt(?:ed)?in',
    'opt(?:ed)?in(?:to)?(?:e?mail|contact|phone|call|sms)',
  ].join('|'),
);

const aboutEmail = /email|courriel|correo|mailen/;
const aboutCalls =
  /phone|donotcall|(?:allow|consent)\w*calls?|calls?(?:opt|$)|sms|textmessage|whatsapp|anruf|tel[eé]fo|appel|llama|bellen|ligar|chamada/;
/** Dynamics calls letters "Mails". */
const aboutPost = /fax|postal|donotpost|letter|directmail|donotallow(?:bulk)?mails?$/;

/**
 * What a column states about opting out, by its name. If the name does not say what was refused, the opt-out forbids
 * processing.
 *
 * @returns undefined if the column is about something else, or about fax or letters, which the product never sends
 */
export function optOutOf(header: string): OptOutMeaning | undefined {
  const key = headerKey(header);
  const polarity = refusalHeader.test(key) ? 'refusal' : consentHeader.test(key) ? 'consent' : undefined;
  if (polarity === undefined) return undefined;
  if (aboutEmail.test(key)) return { polarity, scope: 'processing' };
  if (aboutCalls.test(key)) return { polarity, scope: 'calls' };
  return aboutPost.test(key) ? undefined : { polarity, scope: 'processing' };
}

const plainRefusal = new Set(
  listed('0, false, no, n, f, off, nein, non, nej, nee, não, nao, falsch, faux, falso, onwaar'),
);

/** Words that mean that there is no refusal. */
const plainNo = new Set([
  ...plainRefusal,
  ...listed(`
    none, unchecked, never, null, -, allow, allowed, subscribed, not opted out, zulassen, autoriser, permitir,
    toestaan`),
]);

const refusalWords = new RegExp(
  [
    "unsubscri|opt(?:ed)?[ -]?out|do ?n[o']t|not allow|withdr[ae]w|revoked|refused|declined|denied|rejected|objected",
    'no[ _]consent|archived|nicht zulassen|widerrufen|abgelehnt|abgemeldet|ne pas|refusé|désinscri|désabonn',
    'no permitir|rechazad|revocad|niet toestaan|geweigerd|não permitir|recusad|revogad',
  ].join('|'),
  'u',
);

/** Whether a cell is a word of refusal, a plain no, or possibly the time of a refusal. */
export function isPlainAnswer(cell: string): boolean {
  const value = displayForm(cell).toLowerCase();
  return plainNo.has(value) || refusalWords.test(value) || /^\d/.test(value);
}

/**
 * Whether a cell says that the contact has opted out.
 *
 * @param values of the mapping file, in lower case, that mean "opted out"; they replace the rule of the polarity
 */
export function isOptedOut(cell: string, polarity: OptOutPolarity, values?: ReadonlySet<string>): boolean {
  if (cell === '') return false;
  const value = displayForm(cell).toLowerCase();
  if (value === '') return false;
  if (values) return values.has(value);
  if (polarity === 'refusal') return !plainNo.has(value);
  return plainRefusal.has(value) || refusalWords.test(value);
}
