/** `/in/jane-doe`, and the older `/pub/jane-doe/1a/2b/3c`; what follows is a language or a tab of the page. */
const profilePath =
  /^(?:\/mwlite)?\/(in\/[\p{L}\p{N}\p{M}\p{S}%&'._~-]{1,200}|pub\/[\p{L}\p{N}\p{M}%'._~-]{1,200}(?:\/[0-9a-z]{1,9}){3})(?:\/|$)/u;
const address = /^(?:https?:)?(?:\/\/)?((?:[a-z0-9-]+\.)+[a-z]{2,})(?::\d+)?(\/[^?#]*)/;

/**
 * Reads the address of a person's page on the professional networking site.
 *
 * It is told by its path, not by a list of hosts: companies, schools and other sites have other paths. Country hosts
 * (`de.`), `www.`, `m.`, scheme, query, fragment, language and letter case say nothing of who it is.
 *
 * @returns such as `linkedin.com/in/jane-doe`; undefined where the cell is no such address
 */
export function parseProfileUrl(cell: string): string | undefined {
  if (cell.length > 2_000) return undefined;
  const match = address.exec(cell.trim().toLowerCase());
  if (!match) return undefined;
  const path = profilePath.exec(decoded(match[2]!));
  if (!path) return undefined;
  return `${match[1]!.replace(/^(?:www|m|mobile|[a-z]{2})\.(?=[^.]+\.)/, '')}/${path[1]!}`;
}

/** `jos%C3%A9` and `josé` are one page. */
function decoded(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path).toLowerCase().normalize('NFC');
  } catch {
    return path;
  }
}
