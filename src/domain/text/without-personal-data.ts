import { parseProfileUrl } from '../identity/values/profile-url.ts';

/** Replaces e-mails, profile URLs, phone numbers with `+` and logins, also written with `%40` and `%2b`. */
export function withoutPersonalData(text: string): string {
  return text
    .replace(/[^\s"'<>(),;:]+/g, withoutAddress)
    .replace(/\/\/[^/\s:@]+:[^/\s@]+@/g, '//[login]@')
    .replace(/\b(?:https?:\/\/)?(?:[a-z]+\.)?linkedin\.com\/in\/[^\s"']+/giu, '[profile]')
    .replace(/(?:\+|%2b)\d(?:[\d ().-]|%20){7,}\d/gi, '[phone]');
}

/** Replaces the e-mail of one word. One pattern for a whole text would take minutes for 100,000 characters. */
function withoutAddress(word: string): string {
  const sign = /(?<=[^])(?:@|%40)/i.exec(word);
  if (!sign) return word;
  const host = sign.index + sign[0].length + 1;
  const label = [...word.matchAll(/\.(?:xn--[a-z\d-]+|\p{L}{2,})/giu)].at(-1);
  return label && label.index >= host ? `[email]${word.slice(label.index + label[0].length)}` : word;
}

/** Pattern of an SQL pattern for all e-mails of a domain, such as `%@acme.example`. It identifies no person. */
const anyAddress = /(?<![^\s'"])%@/g;

/** True if a text identifies a person. Texts that an erasure does not change, as in Temporal, must not. */
export function hasPersonalData(text: string): boolean {
  const named = text.replace(anyAddress, '');
  return (
    withoutPersonalData(named) !== named ||
    named.split(/[\s'"<>(),;=]+/).some((word) => parseProfileUrl(word) !== undefined)
  );
}
