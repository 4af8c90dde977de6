import { isPlaceholder } from '../../../domain/identity/values/normalise.ts';

/** Placeholders for a missing value. */
const noValue = /^(?:n\/?a|none|null|nil|unknown|undefined|no e-?mail|no|-+|\?+|\.)$/i;

export function isNoValue(cell: string): boolean {
  return noValue.test(cell) || isPlaceholder(cell);
}
