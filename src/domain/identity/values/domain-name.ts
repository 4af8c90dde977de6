import { getDomain, getHostname } from 'tldts';
import { isFreeMail } from './free-mail.ts';

/**
 * Sites with pages of organizations. With a path, their addresses do not name the employer's own domain. Neither do
 * addresses such as `social.example/@acme`.
 */
const pagesOfOthers =
  /^(?:facebook|linkedin|instagram|twitter|x|youtube|tiktok|crunchbase|github|medium|wikipedia|yelp)\.[a-z.]+$/;

/** Checks the top-level domain, because tldts accepts any last label and finds a domain in `1.50`. */
const topLevel = /\.(?:[a-z]{2,}|xn--[a-z0-9-]+)$/;

/**
 * Reads the domain of an employer.
 *
 * tldts is pure: a table of public suffixes and text functions. Workflows do not import this module, so a newer table
 * cannot change a replay.
 *
 * @param cell such as `https://www.acme.example/about`, `@acme.example`, `uk.acme.example`
 * @returns the registrable domain in lower case and ASCII (`xn--`); undefined without a
 *   domain, for a free-mail provider, and for a page on a site such as LinkedIn
 */
export function parseDomain(cell: string): string | undefined {
  if (cell.length > 2_000 || !cell.includes('.')) return undefined;
  const text = cell.trim();
  const domain = registrableDomain(text);
  if (domain === null || !topLevel.test(domain) || isFreeMail(domain)) return undefined;
  const isPage = pagesOfOthers.test(domain) ? /[^/]\/[^/?#]/.test(text) : /[^/]\/@/.test(text);
  return isPage ? undefined : domain;
}

/** In a path or a query, an `@` does not end the name of a mailbox. */
const webAddress = /^(?:https?:\/\/|[^@/\s]+\.[a-z]{2,}[/?#])/i;

/** Whether a text of the form `@gmail.com` names a free-mail provider, which no entry can suppress as a domain. */
export function namesFreeMail(text: string): boolean {
  const written = text.trim();
  return written.startsWith('@') && isFreeMail(registrableDomain(written) ?? '');
}

/** The registrable domain of a web address, or of the text after the last `@`. */
function registrableDomain(text: string): string | null {
  const address = webAddress.test(text) ? text : text.slice(text.lastIndexOf('@') + 1);
  const host = asciiHost(getHostname(address) ?? '');
  return host === undefined ? null : getDomain(host, { allowPrivateDomains: true });
}

/**
 * Brings a host to the form that is stored and compared: `bücher.example` and `xn--bcher-kva.example` are the same
 * domain.
 *
 * @param host in any spelling
 * @returns the host in lower case and ASCII; undefined if the text is no host
 */
export function asciiHost(host: string): string | undefined {
  const lower = host.toLowerCase();
  if (/^[a-z0-9._-]*$/.test(lower)) return lower;
  if (/[\s/?#@:\\[\]%]/.test(lower)) return undefined;
  return URL.canParse(`http://${lower}`) ? new URL(`http://${lower}`).hostname : undefined;
}
