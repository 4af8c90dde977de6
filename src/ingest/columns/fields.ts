/** The header of an export and its first rows, which show what the columns hold. */
export interface FirstRows {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Fields of a contact that a column can have. */
export const singleFields = [
  'contact_id',
  'person_id',
  'hashed_email',
  'profile_url',
  'first_name',
  'last_name',
  'name',
  'organization_name',
  'domain',
] as const;
export type SingleField = (typeof singleFields)[number];
export type Field = SingleField | 'email' | 'opted_out' | 'opted_out_of_calls';

export function isNameOfPerson(field: Field): boolean {
  return field === 'first_name' || field === 'last_name' || field === 'name';
}

/** Column names in order of preference: the first column with a value counts. All columns of emails count. */
export type FieldNames = Readonly<Partial<Record<SingleField | 'email', readonly string[]>>>;

/** The columns that identify people: positions from 0, in order of preference. */
export interface ColumnsOfPeople {
  readonly single: Readonly<Record<SingleField, readonly number[]>>;
  readonly emails: readonly number[];
}
