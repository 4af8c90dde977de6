/** An ISO 8601 time as `2026-11-21 08:42:52 UTC`. */
export function moment(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** `not_found` → `not found`. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

export function fieldName(field: string): string {
  if (field === 'linkedin_url') return 'LinkedIn profile';
  return field === 'title' ? 'job title' : words(field);
}
