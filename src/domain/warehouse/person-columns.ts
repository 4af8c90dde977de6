type ColumnType = keyof ValueTypes;

interface Column {
  readonly type: ColumnType;
  /** Member of the person, or of their employer, that the column copies. `contactFields` computes the other columns. */
  readonly person?: string;
  readonly employer?: string;
}

/** Columns that change together: the newest observation with a value of the group sets all of them. */
export interface FieldGroup {
  /** The group's name is that of its first column. */
  readonly columns: Readonly<Record<string, Column>>;
  /** Whether `enriched_contacts` has the columns as well; the others are only in `people`. */
  readonly inContacts: boolean;
}

/**
 * Groups of fields of a person, by the name of their first column. SQL that compares, writes or cites values is
 * generated from this table, and so are the members of `Person` that columns copy.
 */
export const personFieldGroups = {
  first_name: {
    columns: {
      first_name: { type: 'text', person: 'first_name' },
      last_name: { type: 'text', person: 'last_name' },
    },
    inContacts: true,
  },
  email: {
    columns: {
      email: { type: 'text' },
      email_status: { type: 'text' },
    },
    inContacts: true,
  },
  phone: { columns: { phone: { type: 'text' } }, inContacts: true },
  title: { columns: { title: { type: 'text', person: 'title' } }, inContacts: true },
  headline: { columns: { headline: { type: 'text', person: 'headline' } }, inContacts: true },
  seniority: { columns: { seniority: { type: 'text', person: 'seniority' } }, inContacts: true },
  departments: { columns: { departments: { type: 'text[]', person: 'departments' } }, inContacts: true },
  city: {
    columns: {
      city: { type: 'text', person: 'city' },
      state: { type: 'text', person: 'state' },
      country: { type: 'text', person: 'country' },
    },
    inContacts: true,
  },
  organization_name: {
    columns: {
      organization_name: { type: 'text', employer: 'name' },
      organization_domain: { type: 'text' },
      organization_industry: { type: 'text', employer: 'industry' },
      organization_employees: {
        type: 'integer',
        employer: 'estimated_num_employees',
      },
      organization_id: { type: 'text' },
    },
    inContacts: true,
  },
  linkedin_url: {
    columns: {
      linkedin_url: {
        type: 'text',
        person: 'proflink_url',
      },
      profile_url: { type: 'text' },
    },
    inContacts: true,
  },
  person_id: { columns: { person_id: { type: 'text', person: 'id' } }, inContacts: true },
  name: { columns: { name: { type: 'text', person: 'name' } }, inContacts: false },
  subdepartments: {
    columns: { subdepartments: { type: 'text[]', person: 'subdepartments' } },
    inContacts: false,
  },
  functions: { columns: { functions: { type: 'text[]', person: 'functions' } }, inContacts: false },
  photo_url: { columns: { photo_url: { type: 'text', person: 'photo_url' } }, inContacts: false },
  microblog_url: { columns: { microblog_url: { type: 'text', person: 'microblog_url' } }, inContacts: false },
  codehost_url: { columns: { codehost_url: { type: 'text', person: 'codehost_url' } }, inContacts: false },
  socialnet_url: { columns: { socialnet_url: { type: 'text', person: 'socialnet_url' } }, inContacts: false },
} as const satisfies Readonly<Record<string, FieldGroup>>;

interface ValueTypes {
  readonly text: string;
  readonly 'text[]': string[];
  readonly integer: number;
}

type Group = (typeof personFieldGroups)[keyof typeof personFieldGroups];
type Columns = UnionToIntersection<Group['columns']>;
type UnionToIntersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

type ColumnName = keyof Columns;
type ContactColumnName = keyof UnionToIntersection<Extract<Group, { readonly inContacts: true }>['columns']>;
type ValueOf<Name extends ColumnName> = ValueTypes[Columns[Name]['type']];

/** The columns of `enriched_contacts`; null: unknown. */
export type ContactColumns = { [Name in ContactColumnName]: ValueOf<Name> | null };

/** The columns of a contact that copy a member of the answer. */
export type CopiedColumns = {
  [
    Name in ContactColumnName as [MemberOf<Name, 'person' | 'employer'>] extends [never] ? never : Name
  ]: ContactColumns[Name];
};

/** The members of an answered person, or of the employer, that columns copy; any can be null or missing. */
export type CopiedMembers<Owner extends 'person' | 'employer'> = {
  readonly [Name in ColumnName as MemberOf<Name, Owner>]?: Readonly<ValueOf<Name>> | null | undefined;
};

/** The member that a column copies; never: it copies none of this owner. */
type MemberOf<Name extends ColumnName, Owner extends string> = Owner extends Owner
  ? Columns[Name] extends Readonly<Record<Owner, infer Member extends string>>
    ? Member
    : never
  : never;

/** All columns with their facts, in the order of the groups. */
export const personColumns = Object.entries<FieldGroup>(personFieldGroups).flatMap(
  ([group, { columns, inContacts }]) =>
    Object.entries(columns).map(([name, column]) => ({ name, group, inContacts, ...column })),
);
