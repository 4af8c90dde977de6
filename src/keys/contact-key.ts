/** The key of a contact: its source and its id there. */
export interface ContactKey {
  readonly source: string;
  readonly contactId: string;
}

/** The key of a row of a run. */
export interface RowKey {
  readonly runId: string;
  readonly rowNumber: number;
}

/** The key of a contact as one text. */
export function contactKey(source: string, contactId: string): string {
  return `${source} ${contactId}`;
}

export function isSameContact(one: ContactKey, other: ContactKey): boolean {
  return one.source === other.source && one.contactId === other.contactId;
}
