/** Maximum length of a name in a run id. Temporal allows 1,000 bytes, but its lists show about 100 characters. */
const longestName = 60;
const longestSchedule = 24;

/**
 * Creates the id of a run and its workflow, readable in a list: `enrich-hubspot-day2-20261122T0007-32f8a1`.
 *
 * @param start.schedule null: a command began the run
 * @param start.source null: not known yet; `generic`, for an export of no recognised CRM, is left out
 * @param start.file the file's name without personal data, because Temporal shows it
 * @param start.random hexadecimal digits that distinguish runs of the same minute
 */
export function newRunId(start: {
  readonly schedule: string | null;
  readonly source: string | null;
  readonly file: string;
  readonly now: Date;
  readonly random: string;
}): string {
  const file = slug(start.file.replace(extensions, ''));
  const source = start.source === null || start.source === 'generic' ? '' : slug(start.source);
  const named = file === source || file.startsWith(`${source}-`) ? file : `${source}-${file}`;
  const minute = start.now.toISOString().replace(/[-:]/g, '').slice(0, 13);
  const schedule = slug(start.schedule ?? '', longestSchedule);
  return ['enrich', schedule, slug(named, longestName), minute, start.random]
    .filter((part) => part !== '')
    .join('-');
}

/** Pattern of file extensions such as `.csv`, `.csv.gz`: everything from the first dot, if only extensions follow. */
const extensions = /(?:\.[a-z]{2,5})+$/i;

/** Lower-case words of ASCII letters and digits with hyphens: `Q3 Leads (neu)` becomes `q3-leads-neu`. */
function slug(text: string, longest = Number.POSITIVE_INFINITY): string {
  const words =
    text
      .normalize('NFKD')
      .toLowerCase()
      .replace(/\p{M}/gu, '')
      .match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, longest).replace(/-$/, '');
}
