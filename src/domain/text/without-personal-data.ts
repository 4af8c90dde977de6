/** Replaces e-mail addresses, profile URLs, phone numbers and passwords in addresses. */
export function withoutPersonalData(text: string): string {
  return text
    .replace(/[^\s"'<>(),;:]+@[^\s"'<>(),;:]+\.[a-z]{2,}/giu, '[email]')
    .replace(/\/\/[^/\s:@]+:[^/\s@]+@/g, '//[login]@')
    .replace(/\b(?:https?:\/\/)?(?:[a-z]+\.)?linkedin\.com\/in\/[^\s"']+/giu, '[profile]')
    .replace(/\+\d[\d ().-]{7,}\d/g, '[phone]');
}
