/**
 * Formats a count or a decimal for a person, with grouped digits: `12,345`, `1,150.25`.
 *
 * @param value a whole number, or a decimal as text
 */
export function formatNumber(value: number | string): string {
  const [whole = '', fraction] = String(value).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
