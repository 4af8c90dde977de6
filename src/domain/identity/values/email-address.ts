import { createHash } from 'node:crypto';
import { getDomain, getHostname } from 'tldts';
import { displayForm } from './normalise.ts';
import content from './free-mail.json' with { type: 'json' };
import lists from './words.json' with { type: 'json' };

/** Pattern of an ASCII e-mail, without `/`, which in practice separates two e-mails: `ann/bob@acme.example`. */
const asciiAddress =
  /^[a-z0-9!#$%&'*+=?^_`{|}~.-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;
const unicodeAddress =
  /^[\p{L}\p{N}\p{M}!#$%&'*+=?^_`{|}~.-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/u;

/** Pattern of placeholders (`email_not_unlocked@`, `none@none.com`) and of mailboxes that nobody reads. */
const placeholder =
  /^(?:(?:email_not_unlocked|no[-_.]?e?mail|none|unknown|not[-_.]?provided|(?:no|do[-_.]?not)[-_.]?reply)@|(test|na|email|mail|example|asdf|xxx|abc|a)@\1\.)/;

/** Local parts of shared mailboxes, such as `info`, in the languages of CRM exports. */
const roleLocalParts = new Set(lists.roleMailboxes);

/** Maximum length of an e-mail with its display name. A longer text is prose. */
const longestText = 1_000;

/**
 * Reads one e-mail, such as `mailto:jane@acme.example` or `Jane Doe <jane@acme.example>`; undefined for a placeholder.
 *
 * @returns the e-mail in lower case, as no provider distinguishes people by case, with its domain in ASCII (`xn--`)
 */
export function parseEmail(text: string): string | undefined {
  if (text.length > longestText) return undefined;
  let address = text.toLowerCase();
  if (!asciiAddress.test(address)) {
    address = unwrap(displayForm(address));
    const at = address.lastIndexOf('@') + 1;
    address = address.slice(0, at) + (asciiHost(address.slice(at)) ?? address.slice(at));
    if (!asciiAddress.test(address) && !unicodeAddress.test(address)) return undefined;
  }
  if (address.length > 254 || address.endsWith('.invalid')) return undefined;
  return placeholder.test(address) ? undefined : address;
}

/** Pattern of an e-mail in brackets after a name or e-mail: `Jane Doe <jane@…>`, `jane@… <jane@…>`. */
const inBrackets = /^([^<>]*)<([^<>]*)>\s*$/;
/** Kinds of e-mails that may follow in brackets. Any other note can describe another person: `(assistant)`. */
const kinds = lists.kindsOfMailboxes.join('|');
const kindInBrackets = new RegExp(`[([]\\s*(?:${kinds})\\s*[)\\]]`, 'giu');
const label = new RegExp(`^(?:mailto|smtp|${kinds}) ?: ?`, 'iu');

/** Removes a display name: `Jane Doe <jane@…>` becomes `jane@…`. */
function unwrap(text: string): string {
  const [, before = '', within = text] = inBrackets.exec(text) ?? [];
  const address = bare(within);
  // The display name can be the e-mail of another person. Then the text is kept as it is and refused later.
  return before.includes('@') && bare(before) !== address ? text : address;
}

/** Removes a label such as `mailto:`, quotes, brackets, a query and final points around an e-mail. */
function bare(text: string): string {
  return text
    .replace(/^["'\s([]*/, '')
    .replace(label, '')
    .replace(/\?.*$/, '')
    .replace(/["'\s.)\]]*$/, '');
}

/** Separators of e-mails; ` ::: ` is the separator of Google's exports. */
const betweenAddresses = /[;,|\n\r、，；]|\s:::\s/;
/** Pattern of a slash or `&` after an e-mail. Looking back from each slash would take a second for 40 KB. */
const slashAfterAddress = /(@[^\s@/&]+)\s*[/&]/g;

/**
 * Reads the e-mails of a cell, separated by `;`, `,`, `|`, `/`, `&`, ` ::: `, spaces or line breaks, each perhaps with
 * its kind in brackets. Other text is ignored: "ask bob@acme.example instead" is about another person.
 */
export function parseEmails(cell: string): string[] {
  if (cell === '') return [];
  const single = parseEmail(cell);
  if (single !== undefined) return [single];
  if (!cell.includes('@')) return [];
  return cell
    .replace(kindInBrackets, ' ')
    .replace(slashAfterAddress, '$1;')
    .split(betweenAddresses)
    .flatMap((part) => {
      const address = parseEmail(part);
      if (address !== undefined) return [address];
      const words = part.trim().split(/\s+/);
      return words.length > 1 && words.every((word) => word.includes('@'))
        ? words.flatMap((word) => parseEmail(word) ?? [])
        : [];
    });
}

/** The domain of an e-mail: the part after the `@`. */
export function emailDomain(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** True if an e-mail is a shared mailbox (`info@`), which several people of an export can have. */
export function isSharedMailbox(address: string): boolean {
  return roleLocalParts.has(address.slice(0, address.indexOf('@')));
}

/** Reads a hashed e-mail. @returns an MD5 or SHA-256 in lower-case hexadecimal; undefined if the cell is neither */
export function parseHashedEmail(cell: string): string | undefined {
  const hash = cell.trim().toLowerCase();
  return /^(?:[0-9a-f]{32}|[0-9a-f]{64})$/.test(hash) ? hash : undefined;
}

/** MD5 and SHA-256 of an e-mail in lower-case hexadecimal, as exports write them. */
export function emailHashes(email: string): string[] {
  return ['md5', 'sha256'].map((algorithm) => createHash(algorithm).update(email).digest('hex'));
}

/** Providers' domains, which identify no employer. The larger package free-email-domains downloads its list. */
const providers = new Set(content.providers);

/** Pattern of free-mail providers with domains in many countries: `yahoo.co.uk`, `hotmail.fr`. */
const families = new RegExp(
  `^(?:${content.families.join('|')})\\.(?:com|net|(?:co|com|ne)\\.[a-z]{2}|[a-z]{2})$`,
);

/** True if a domain belongs to a free-mail provider. @param domain in lower case, without `@` */
export function isFreeMailDomain(domain: string): boolean {
  return providers.has(domain) || families.test(domain);
}

/** Pattern of sites with pages of organizations. The URL of such a page does not contain the employer's own domain. */
const pagesOfOthers =
  /^(?:facebook|linkedin|instagram|twitter|x|youtube|tiktok|crunchbase|github|medium|wikipedia|yelp)\.[a-z.]+$/;

/** Pattern of a valid top-level domain. The library tldts accepts any last label and finds a domain in `1.50`. */
const topLevel = /\.(?:[a-z]{2,}|xn--[a-z0-9-]+)$/;

/**
 * Reads the domain of an employer from a URL, e-mail or host. Workflows do not import this module, so a newer table of
 * public suffixes in tldts cannot change a replay.
 *
 * @returns the registrable domain in lower case and ASCII (`xn--`); undefined if there is no domain, for a free-mail
 *   provider, and for a page on a site such as LinkedIn
 */
export function parseDomain(cell: string): string | undefined {
  if (cell.length > 2_000 || !cell.includes('.')) return undefined;
  const text = cell.trim();
  const domain = registrableDomain(text);
  if (domain === null || !topLevel.test(domain) || isFreeMailDomain(domain)) return undefined;
  const isPage = pagesOfOthers.test(domain) ? /[^/]\/[^/?#]/.test(text) : /[^/]\/@/.test(text);
  return isPage ? undefined : domain;
}

/** Pattern of a web URL. An `@` in its path or query does not belong to an e-mail. */
const webAddress = /^(?:https?:\/\/|[^@/\s]+\.[a-z]{2,}[/?#])/i;

/** True if a text such as `@gmail.com` is a free-mail provider, which cannot be suppressed as a domain. */
export function isFreeMailText(text: string): boolean {
  const written = text.trim();
  return written.startsWith('@') && isFreeMailDomain(registrableDomain(written) ?? '');
}

/** The registrable domain of a web URL, or of the text after the last `@`. */
function registrableDomain(text: string): string | null {
  const address = webAddress.test(text) ? text : text.slice(text.lastIndexOf('@') + 1);
  const host = asciiHost(getHostname(address) ?? '');
  return host === undefined ? null : getDomain(host, { allowPrivateDomains: true });
}

/** Converts a host to lower case and ASCII: `bücher.example` becomes `xn--bcher-kva.example`. Undefined: no host. */
function asciiHost(host: string): string | undefined {
  const lower = host.toLowerCase();
  if (/^[a-z0-9._-]*$/.test(lower)) return lower;
  if (/[\s/?#@:\\[\]%]/.test(lower)) return undefined;
  return URL.canParse(`http://${lower}`) ? new URL(`http://${lower}`).hostname : undefined;
}
