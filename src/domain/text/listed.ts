/** The entries of a text, with a comma and a space or line break between them. */
export function listed(text: string): string[] {
  return text.trim().split(/,\s+/);
}
