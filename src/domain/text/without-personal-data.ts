/** Replaces e-mail addresses, profile URLs, phone numbers and passwords in addresses. URLs encode `@` and `+`. */
export function withoutPersonalData(text: string): string {
  return text
    .replace(/[^\s"'<>(),;:]+(?:@|%40)[^\s"'<>(),;:]+\.(?:xn--[a-z\d-]+|\p{L}{2,})/giu, '[email]')
    .replace(/\/\/[^/\s:@]+:[^/\s@]+@/g, '//[login]@')
    .replace(/\b(?:https?:\/\/)?(?:[a-z]+\.)?linkedin\.com\/in\/[^\s"']+/giu, '[profile]')
    .replace(/(?:\+|%2b)\d(?:[\d ().-]|%20){7,}\d/gi, '[phone]');
}
