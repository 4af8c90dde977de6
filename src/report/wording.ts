/** `not_found` → `not found`. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

export function fieldName(field: string): string {
  if (field === 'linkedin_url') return 'LinkedIn profile';
  return field === 'title' ? 'job title' : words(field);
}
