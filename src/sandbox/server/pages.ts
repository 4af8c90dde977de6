export interface Page {
  /** From 1. */
  readonly page: number;
  readonly per_page: number;
}

/** The pagination member of a list. */
export function pagination(page: Page, entries: number): object {
  return {
    page: page.page,
    per_page: page.per_page,
    total_entries: entries,
    total_pages: Math.ceil(entries / page.per_page),
  };
}

/**
 * The entries of a page.
 *
 * @param entry returns the entry of a number from 0
 */
export function pageOf<Entry>({ page, per_page }: Page, entry: (number: number) => Entry): Entry[] {
  return Array.from({ length: per_page }, (_, index) => entry((page - 1) * per_page + index));
}
