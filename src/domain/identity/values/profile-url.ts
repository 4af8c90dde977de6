import { decodePercent } from '../../text/url-parts.ts';
import { displayForm } from './normalise.ts';

/** Pattern of a profile's path: `/in/jane-doe`, the older `/pub/jane-doe/1a/2b/3c`, or in e-mails `/comm/in/…`. */
const profilePath =
  /^(?:\/(?:mwlite|comm))?\/(in\/[\p{L}\p{N}\p{M}\p{S}%&'._~-]{1,200}|pub\/[\p{L}\p{N}\p{M}%'._~-]{1,200}(?:\/[0-9a-z]{1,9}){3})(?:\/|$)/u;
const address = /^(?:https?:)?(?:\/\/)?((?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63})(?::\d+)?(\/[^?#]*)/;

/**
 * Reads the URL of a person's page as `linkedin.com/in/jane-doe`; undefined for any other. Country hosts, `www.`, `m.`,
 * scheme, query, fragment, language and letter case are ignored.
 */
export function parseProfileUrl(cell: string): string | undefined {
  if (cell.length > 2_000) return undefined;
  const match = address.exec(displayForm(cell).toLowerCase());
  if (!match) return undefined;
  const path = profilePath.exec(decoded(match[2]!));
  if (!path) return undefined;
  return `${match[1]!.replace(/^(?:(?:www|m|mobile|[a-z]{2})\.(?=[^.]+\.))+/, '')}/${path[1]!}`;
}

/**
 * Finds a profile URL as the CRM writes it, because a service may compare exactly; undefined if it has parts that no
 * service stores, such as a country host or a query.
 */
export function findWrittenProfileUrl(cells: readonly string[], profileUrl: string): string | undefined {
  const written = cells.find((cell) => {
    const plain = /^\s*https?:\/\/(?:www\.)?([^?#\s]+?)\/?\s*$/i.exec(cell);
    return plain !== null && decoded(plain[1]!, 1) === profileUrl;
  });
  return written?.trim();
}

/** Decodes a path, so that `jos%C3%A9`, `jos%25C3%25A9` and both forms of `josé` are one page. Invalid codes stay. */
function decoded(path: string, encodings = maxEncodings): string {
  let text = path;
  for (let round = 0; round < encodings && text.includes('%'); round += 1) text = decodePercent(text);
  return text.toLowerCase().normalize('NFC');
}

/** Maximum number of times that a link is decoded. Every program that forwards a link may encode it again. */
const maxEncodings = 3;
