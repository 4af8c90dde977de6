import { UsageProblem, type Problem } from '../problem.ts';
import { importFields, type ImportColumn, type ImportField } from './crm.ts';
import { sameValue } from './same-value.ts';

/**
 * Policies that decide when a value of the warehouse is written to a field of the CRM.
 *
 * - `fill`: if the CRM's cell was blank in the newest export.
 * - `overwrite-older`: if the value was found after the CRM last changed the record; if this time is unknown, as
 *   `fill`.
 * - `overwrite-if-verified`: if the e-mail is verified, or the phone number is valid and may be called.
 * - `never`: the report only shows the difference.
 */
export const fieldPolicies = ['fill', 'overwrite-older', 'overwrite-if-verified', 'never'] as const;
export type FieldPolicy = (typeof fieldPolicies)[number];

/** Policies without --policy. A CRM identifies a record by its e-mail, so e-mails are written only on request. */
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

/** Decisions about one field of one contact. Every field gets exactly one decision. */
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

/** What a decision about one field of one contact depends on. */
export interface FieldFacts {
  /** False if retention or a suppression has removed the cells of the newest export. */
  readonly hasCells: boolean;
  /** The CRM's value: the cell of the newest export. Undefined if the export has no such column. */
  readonly theirs: string | undefined;
  /** The value in the warehouse; null if it has none. */
  readonly ours: string | null;
  readonly observedAt: Date | null;
  /** When the CRM last changed the record; null if unknown: `overwrite-older` then fills only empty cells. */
  readonly modifiedAt: Date | null;
  /** True if the e-mail is verified, or the phone number is valid. */
  readonly isVerified: boolean;
  /** True if the phone number must not be called, or the contact opted out of calls. */
  readonly isDoNotCall: boolean;
  /** True if the person has a new employer. The record then stays at its company, and the change is reported. */
  readonly hasChangedJob: boolean;
}

/** Fields that change when the person has a new employer. */
const jobFields: ReadonlySet<ImportField> = new Set(['title', 'email', 'phone', 'organization_name']);

/** Decides whether a field is written to the CRM; never without a column in the export that shows the CRM's value. */
export function decideField(
  field: ImportField,
  policy: FieldPolicy,
  facts: FieldFacts,
  {
    column,
    erasingCell,
  }: {
    readonly column: Pick<ImportColumn, 'longest' | 'listedValues'>;
    readonly erasingCell?: string | undefined;
  },
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
  // Length is counted in UTF-16 code units, because importers count like this.
  if (column.longest !== undefined && ours.length > column.longest) return 'refused: too long';
  return isBlank ? 'filled' : 'overwritten';
}

/** True if the policy allows a write. `fill` and both `overwrite` policies fill a blank cell. */
function mayWrite(policy: FieldPolicy, isBlank: boolean, facts: FieldFacts): boolean {
  const { observedAt, modifiedAt } = facts;
  if (policy === 'never') return false;
  if (policy === 'overwrite-if-verified' && facts.isVerified) return true;
  const isNewer = observedAt !== null && modifiedAt !== null && observedAt > modifiedAt;
  return isBlank || (policy === 'overwrite-older' && isNewer);
}

export interface DecidedField {
  readonly field: ImportField;
  readonly decision: FieldDecision;
  /** The CRM's value: the cell of the newest export. Undefined if the export has no such column. */
  readonly theirs: string | undefined;
  /** The value in the warehouse; null if it has none. */
  readonly ours: string | null;
}

const placeFields: ReadonlySet<ImportField> = new Set(['city', 'state', 'country']);

/** Writes no part of a place if the CRM keeps a part of another: the mixture might be a place that does not exist. */
export function keepLocationTogether<Field extends DecidedField>(fields: readonly Field[]): readonly Field[] {
  const places = fields.filter(({ field }) => placeFields.has(field));
  if (!places.some(keepsOtherPlace)) return fields;
  return fields.map((each) =>
    places.includes(each) && isWritten(each) ? { ...each, decision: 'other place' } : each,
  );
}

/** True if the value of the warehouse is written to the CRM. */
export function isWritten({ decision }: DecidedField): boolean {
  return decision === 'filled' || decision === 'overwritten';
}

/** True if the CRM keeps a part of a place that differs from the warehouse. */
function keepsOtherPlace(decided: DecidedField): boolean {
  const { field, decision, ours } = decided;
  const theirs = decided.theirs?.trim() ?? '';
  if (theirs === '' || decision === 'same' || isWritten(decided)) return false;
  // The CRM may use a code such as `ON` for a name such as `Ontario`.
  const isCode = field === 'state' && ours !== null && /^[A-Z]{2,3}$/.test(theirs);
  return !(isCode && new RegExp(`^${theirs.split('').join('.*')}`, 'i').test(ours));
}

type FieldPolicies = Readonly<Record<ImportField, FieldPolicy>>;

/** Reads `--policy`, such as `title=fill,email=never`, with defaults. @throws Problem `policy.invalid` */
export function readPolicyPairs(text: string): FieldPolicies {
  const pairs = text.split(',').map((pair): [ImportField, FieldPolicy] => {
    const [name, value, ...more] = pair.split('=').map((part) => part.trim());
    if (!name || !value || more.length > 0)
      throw invalid(`"${pair.trim()}" is not FIELD=POLICY, such as title=fill`);
    const field = importFields.find((each) => each === name);
    if (field === undefined) throw invalid(`"${name}" is not a field`);
    const policy = fieldPolicies.find((each) => each === value);
    if (policy === undefined) throw invalid(`"${value}" is not a policy for the field ${field}`);
    return [field, policy];
  });
  return { ...defaultPolicies, ...Object.fromEntries(pairs) };
}

function invalid(what: string): Problem {
  return new UsageProblem('policy.invalid', what, {
    where: '--policy',
    next: `fields: ${importFields.join(', ')}; policies: ${fieldPolicies.join(', ')}`,
  });
}
