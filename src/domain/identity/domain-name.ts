import { getDomain, getHostname } from 'tldts';
import { isFreeMail } from './free-mail.ts';

/** Sites on which organizations have a page: with a path, such an address does not name the employer's own domain. */
const pagesOfOthers =
  /^(?:facebook|linkedin|instagram|twitter|x|youtube|tiktok|crunchbase|github|medium|wikipedia|yelp)\.[a-z.]+$/;

/** tldts takes any last label for a suffix, so that it finds a domain in `1.50`. */
const topLevel = /\.(?:[a-z]{2,}|xn--[a-z0-9-]+)$/;

/**
 * Reads the domain of an employer.
 *
 * tldts is pure: a table of public suffixes and text functions. It stands here and not in `exports`, because the
 * answers of the service must be brought to the same form before they are compared. Workflows do not import this
 * module, so a newer table cannot change a replay.
 *
 * @param cell such as `https://www.acme.example/about`, `@acme.example`, `uk.acme.example`
 * @returns the registrable domain in lower case and ASCII (`xn--`); undefined where there is none, where it is a
 *   free-mail provider's, or where the address is a page on another person's site
 */
export function parseDomain(cell: string): string | undefined {
  if (cell.length > 2_000 || !cell.includes('.')) return undefined;
  const text = cell.trim();
  const host = asciiHost(getHostname(text.slice(text.lastIndexOf('@') + 1)) ?? '');
  const domain = host === undefined ? null : getDomain(host, { allowPrivateDomains: true });
  if (domain === null || !topLevel.test(domain) || isFreeMail(domain)) return undefined;
  return pagesOfOthers.test(domain) && /[^/]\/[^/?#]/.test(text) ? undefined : domain;
}

/**
 * The one form of a host that is kept and compared: `bücher.example` and `xn--bcher-kva.example` are the same domain.
 *
 * @param host in any spelling
 * @returns the host in lower case and ASCII; undefined where no host can be spelled so
 */
export function asciiHost(host: string): string | undefined {
  const lower = host.toLowerCase();
  if (/^[a-z0-9._-]*$/.test(lower)) return lower;
  if (/[\s/?#@:\\[\]%]/.test(lower)) return undefined;
  return URL.canParse(`http://${lower}`) ? new URL(`http://${lower}`).hostname : undefined;
}
