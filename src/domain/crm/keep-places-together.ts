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
 *
 * @returns the decisions, in the order of the fields
 */
export function keepPlacesTogether(fields: readonly DecidedField[]): FieldDecision[] {
  const hasOther = fields.some((field) => placeFields.has(field.field) && keepsOtherPlace(field));
  return fields.map(({ field, decision }) =>
    hasOther && placeFields.has(field) && isWritten(decision) ? 'other place' : decision,
  );
}

function isWritten(decision: FieldDecision): boolean {
  return decision === 'filled' || decision === 'overwritten';
}

function keepsOtherPlace({ field, decision, theirs = '', ours }: DecidedField): boolean {
  if (theirs.trim() === '' || decision === 'same' || isWritten(decision)) return false;
  return !(field === 'state' && ours !== null && isAbbreviation(theirs.trim(), ours));
}

/** Whether a code such as `ON` can stand for a name such as `Ontario`. */
function isAbbreviation(code: string, name: string): boolean {
  if (!/^[A-Z]{2,3}$/.test(code)) return false;
  return new RegExp(`^${code.split('').join('.*')}`, 'i').test(name);
}
