/** Decodes `%C3%A9` in a part of an address. Keeps what is no code, such as the sign in `100%sure`. */
export function decodePercent(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (codes) => {
    try {
      return decodeURIComponent(codes);
    } catch {
      return codes;
    }
  });
}
