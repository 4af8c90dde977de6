/** A word as a shell reads it. */
export function shellWord(text: string): string {
  return /^[\w./:@%+,-][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
