import type { ImportColumn, ImportField } from './importer.ts';
import { sameValue } from './same-value.ts';

/**
 * When the warehouse's value is written to a CRM field.
 * - `fill`: the CRM's cell was blank in the newest export.
 * - `overwrite-older`: the value was observed after the CRM last changed the record; without that time, as
 *   `fill`.
 * - `overwrite-if-verified`: the address is verified, or the phone number is valid and may be called.
 * - `never`: not written; the report shows the difference.
 */
export const fieldPolicies = ['fill', 'overwrite-older', 'overwrite-if-verified', 'never'] as const;
export type FieldPolicy = (typeof fieldPolicies)[number];

/** A CRM identifies a record by its address, so addresses are written only on request. */
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

/** Decisions about one field of one contact. Every field gets exactly one. */
export const fieldDecisions = [
  'filled',
  'overwritten',
  'kept',
  'kept blank',
  'same',
  'nothing known',
  'not in the export',
  'cells removed',
  'refused: too long',
  'refused: listed values',
  'refused: erases the field',
  'refused: do not call',
  'job change',
  'other place',
] as const;
export type FieldDecision = (typeof fieldDecisions)[number];

export interface FieldFacts {
  /** False: retention or a suppression has removed the cells of the newest export. */
  readonly hasCells: boolean;
  /** The cell of the newest export; undefined without such a column. */
  readonly theirs: string | undefined;
  /** The warehouse's value; null without one. */
  readonly ours: string | null;
  readonly observedAt: Date | null;
  /** When the CRM last changed the record, from its own column. */
  readonly modifiedAt: Date | null;
  /** The address is verified, or the number valid. */
  readonly isVerified: boolean;
  /** The number must not be called, or the contact opted out of calls. */
  readonly isDoNotCall: boolean;
  /** The person has another employer now, so the record is not moved to another company without a report. */
  readonly hasChangedJob: boolean;
}

/** Fields that change with the employer. */
const jobFields: ReadonlySet<ImportField> = new Set(['title', 'email', 'phone', 'organization_name']);

/**
 * Decides whether one field is written. Pure.
 *
 * A field without a column in the export is never written, because the CRM's cell is unknown.
 */
export function decideField(
  field: ImportField,
  policy: FieldPolicy,
  facts: FieldFacts,
  { column, erasingCell }: { readonly column: ImportColumn; readonly erasingCell?: string | undefined },
): FieldDecision {
  const { theirs, ours } = facts;
  if (ours === null || ours === '') return 'nothing known';
  if (theirs === undefined) return facts.hasCells ? 'not in the export' : 'cells removed';
  const isBlank = theirs.trim() === '';
  if (!isBlank && sameValue(field, theirs, ours)) return 'same';
  if (facts.hasChangedJob && jobFields.has(field)) return 'job change';
  if (facts.isDoNotCall) return 'refused: do not call';
  if (!mayWrite(policy, isBlank, facts)) return isBlank ? 'kept blank' : 'kept';
  if (column.listedValues) return 'refused: listed values';
  if (erasingCell !== undefined && ours.trim() === erasingCell) return 'refused: erases the field';
  // UTF-16 code units, as importers count; never fewer than characters.
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
