/** Types of the columns that hold what is known of a person. */
type ColumnType = 'text' | 'text[]' | 'integer';

/** Columns that change together: the newest observation that says anything of the group sets all of them. */
export interface FieldGroup {
  /** The group's name is that of its first column. */
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** Whether `enriched_contacts` has the columns as well; the others are only in `people`. */
  readonly inContacts: boolean;
}

/**
 * Groups of fields of a person, by the name of their first column. SQL that compares, writes or cites values is
 * generated from this table.
 */
export const personFieldGroups = {
  person_id: { columns: { person_id: 'text' }, inContacts: true },
  first_name: { columns: { first_name: 'text', last_name: 'text' }, inContacts: true },
  email: { columns: { email: 'text', email_status: 'text' }, inContacts: true },
  title: { columns: { title: 'text' }, inContacts: true },
  headline: { columns: { headline: 'text' }, inContacts: true },
  seniority: { columns: { seniority: 'text' }, inContacts: true },
  departments: { columns: { departments: 'text[]' }, inContacts: true },
  city: { columns: { city: 'text', state: 'text', country: 'text' }, inContacts: true },
  organization_name: {
    columns: {
      organization_name: 'text',
      organization_id: 'text',
      organization_domain: 'text',
      organization_industry: 'text',
      organization_employees: 'integer',
    },
    inContacts: true,
  },
  phone: { columns: { phone: 'text' }, inContacts: true },
  linkedin_url: { columns: { linkedin_url: 'text', profile_url: 'text' }, inContacts: true },
  name: { columns: { name: 'text' }, inContacts: false },
  subdepartments: { columns: { subdepartments: 'text[]' }, inContacts: false },
  functions: { columns: { functions: 'text[]' }, inContacts: false },
  photo_url: { columns: { photo_url: 'text' }, inContacts: false },
  microblog_url: { columns: { microblog_url: 'text' }, inContacts: false },
  codehost_url: { columns: { codehost_url: 'text' }, inContacts: false },
  socialnet_url: { columns: { socialnet_url: 'text' }, inContacts: false },
} as const satisfies Readonly<Record<string, FieldGroup>>;

interface ValueTypes {
  readonly text: string;
  readonly 'text[]': string[];
  readonly integer: number;
}

type Group = (typeof personFieldGroups)[keyof typeof personFieldGroups];
type Merged<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
type Values<Columns> = { -readonly [Name in keyof Columns]: ValueTypes[Columns[Name] & ColumnType] | null };

/** The columns of all groups, in `people`; null: unknown. */
export type PersonColumns = Values<Merged<Group['columns']>>;

/** The columns that `enriched_contacts` has as well. */
export type ContactColumns = Values<Merged<Extract<Group, { readonly inContacts: true }>['columns']>>;
