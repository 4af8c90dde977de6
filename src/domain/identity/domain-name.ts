import { getDomain } from 'tldts';
import { isFreeMail } from './free-mail.ts';

/** Sites on which organizations have a page: with a path, such an address does not name the employer's own domain. */
const pagesOfOthers =
  /^(?:facebook|linkedin|instagram|twitter|x|youtube|tiktok|crunchbase|github|medium|wikipedia|yelp)\.[a-z.]+$/;

/** tldts takes any last label for a suffix, so that it finds a domain in `1.50`. */
const topLevel = /\.(?:[a-z]{2,}|xn--[a-z0-9-]+|[\u0080-\uffff]+)$/;

/**
 * Reads the domain of an employer.
 *
 * tldts is pure: a table of public suffixes and text functions. It stands here and not in `exports`, because the answers
 * of the service must be brought to the same form before they are compared. Workflows do not import this module, so a
 * newer table cannot change a replay.
 *
 * @param cell such as `https://www.acme.example/about`, `@acme.example`, `uk.acme.example`
 * @returns the registrable domain in lower case; undefined where there is none, where it is a free-mail provider's, or
 *   where the address is a page on somebody else's site
 */
export function parseDomain(cell: string): string | undefined {
  if (cell.length > 2_000 || !cell.includes('.')) return undefined;
  const text = cell.trim();
  const domain = getDomain(text.slice(text.lastIndexOf('@') + 1), { allowPrivateDomains: true });
  if (domain === null || !topLevel.test(domain) || isFreeMail(domain)) return undefined;
  return pagesOfOthers.test(domain) && /[^/]\/[^/?#]/.test(text) ? undefined : domain;
}
