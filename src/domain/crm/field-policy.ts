import type { ImportColumn, ImportField } from './importer.ts';
import { sameValue } from './same-value.ts';

/**
 * When a value of ours is written over what the CRM has.
 *
 * - `fill`: the CRM's cell was blank in the newest export.
 * - `overwrite-older`: our value was observed after the CRM changed the record; without that time, as `fill`.
 * - `overwrite-if-verified`: the address is verified, or the phone number is valid and may be called.
 * - `never`: not at all; the difference is reported.
 */
export const fieldPolicies = ['fill', 'overwrite-older', 'overwrite-if-verified', 'never'] as const;
export type FieldPolicy = (typeof fieldPolicies)[number];

/** An address in a CRM decides who a record is, so it is never written without being told to. */
export const defaultPolicies: Readonly<Record<ImportField, FieldPolicy>> = {
  first_name: 'fill',
  last_name: 'fill',
  title: 'fill',
  email: 'never',
  phone: 'fill',
  mobile_phone: 'fill',
  city: 'fill',
  state: 'fill',
  country: 'fill',
  organization_name: 'fill',
  linkedin_url: 'fill',
};

/** What became of one field of one contact. Every field gets exactly one. */
export const fieldDecisions = [
  'filled',
  'overwritten',
  'kept',
  'same',
  'nothing known',
  'not in the export',
  'refused: too long',
  'refused: listed values',
  'refused: erases the field',
  'refused: do not call',
  'job change',
] as const;
export type FieldDecision = (typeof fieldDecisions)[number];

export interface FieldFacts {
  /** The cell of the newest export; undefined where the export has no such column. */
  readonly theirs: string | undefined;
  /** What the warehouse knows; null where nothing is known. */
  readonly ours: string | null;
  readonly observedAt: Date | null;
  /** When the CRM last changed the record, by its own column. */
  readonly modifiedAt: Date | null;
  /** The address is verified, or the number valid. */
  readonly isVerified: boolean;
  /** The number must not be called. */
  readonly isDoNotCall: boolean;
  /** The person works elsewhere now: a record is not moved to another company silently. */
  readonly hasChangedJob: boolean;
}

/** Fields of which a new employer is the reason. */
const jobFields: ReadonlySet<ImportField> = new Set(['title', 'email', 'phone', 'organization_name']);

/**
 * Decides whether one field is written. Pure.
 *
 * A column that the export did not have is never written: whether the CRM's cell is blank is not known.
 */
export function decideField(
  field: ImportField,
  policy: FieldPolicy,
  facts: FieldFacts,
  { column, erasingCell }: { readonly column: ImportColumn; readonly erasingCell?: string | undefined },
): FieldDecision {
  const { theirs, ours } = facts;
  if (ours === null || ours === '') return 'nothing known';
  if (theirs === undefined) return 'not in the export';
  const isBlank = theirs.trim() === '';
  if (!isBlank && sameValue(field, theirs, ours)) return 'same';
  if (facts.hasChangedJob && jobFields.has(field)) return 'job change';
  if (facts.isDoNotCall) return 'refused: do not call';
  if (!mayWrite(policy, isBlank, facts)) return 'kept';
  if (column.listedValues) return 'refused: listed values';
  if (erasingCell !== undefined && ours.trim() === erasingCell) return 'refused: erases the field';
  // Counted as the importers count: in UTF-16 code units, which is never less than characters.
  if (column.longest !== undefined && ours.length > column.longest) return 'refused: too long';
  return isBlank ? 'filled' : 'overwritten';
}

function mayWrite(policy: FieldPolicy, isBlank: boolean, facts: FieldFacts): boolean {
  switch (policy) {
    case 'never':
      return false;
    case 'fill':
      return isBlank;
    case 'overwrite-older': {
      const { observedAt, modifiedAt } = facts;
      return isBlank || (observedAt !== null && modifiedAt !== null && observedAt > modifiedAt);
    }
    case 'overwrite-if-verified':
      return isBlank || facts.isVerified;
  }
}
