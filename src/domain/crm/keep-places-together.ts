import type { FieldDecision } from './field-policy.ts';
import type { ImportField } from './importer.ts';

export interface DecidedField {
  readonly field: ImportField;
  readonly decision: FieldDecision;
  /** The cell of the newest export; undefined without such a column. */
  readonly theirs: string | undefined;
  /** The warehouse's value; null without one. */
  readonly ours: string | null;
}

const placeFields: ReadonlySet<ImportField> = new Set(['city', 'state', 'country']);

/**
 * Decides again about city, state and country: none is written if the CRM keeps a cell of another place, because the
 * record would name a place that does not exist. Pure.
 */
export function keepPlacesTogether<Field extends DecidedField>(fields: readonly Field[]): readonly Field[] {
  const hasOther = fields.some((field) => placeFields.has(field.field) && keepsOtherPlace(field));
  if (!hasOther) return fields;
  return fields.map((each) =>
    placeFields.has(each.field) && isWritten(each) ? { ...each, decision: 'other place' } : each,
  );
}

/** Whether the CRM gets the warehouse's value. */
export function isWritten({ decision }: DecidedField): boolean {
  return decision === 'filled' || decision === 'overwritten';
}

function keepsOtherPlace(decided: DecidedField): boolean {
  const { field, decision, theirs = '', ours } = decided;
  if (theirs.trim() === '' || decision === 'same' || isWritten(decided)) return false;
  return !(field === 'state' && ours !== null && isAbbreviation(theirs.trim(), ours));
}

/** Whether a code such as `ON` can stand for a name such as `Ontario`. */
function isAbbreviation(code: string, name: string): boolean {
  if (!/^[A-Z]{2,3}$/.test(code)) return false;
  return new RegExp(`^${code.split('').join('.*')}`, 'i').test(name);
}
