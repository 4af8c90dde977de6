interface ValueTypes {
  readonly text: string;
  readonly 'text[]': string[];
  readonly integer: number;
}

/** A column of table `people`. */
interface Column {
  readonly type: keyof ValueTypes;
  /** Member of the person or employer that the column copies; without it, `contactFields` computes the column. */
  readonly person?: string;
  readonly employer?: string;
}

/** Columns that change together: the newest observation with a value of the group sets all of them. */
type FieldGroups = Readonly<Record<string, Readonly<Record<string, Column>>>>;

/** Groups of fields of `enriched_contacts`, by their first column. SQL and members of `Person` follow from them. */
export const contactFieldGroups = {
  first_name: {
    first_name: { type: 'text', person: 'first_name' },
    last_name: { type: 'text', person: 'last_name' },
  },
  email: { email: { type: 'text' }, email_status: { type: 'text' } },
  phone: { phone: { type: 'text' } },
  title: { title: { type: 'text', person: 'title' } },
  headline: { headline: { type: 'text', person: 'headline' } },
  seniority: { seniority: { type: 'text', person: 'seniority' } },
  departments: { departments: { type: 'text[]', person: 'departments' } },
  city: {
    city: { type: 'text', person: 'city' },
    state: { type: 'text', person: 'state' },
    country: { type: 'text', person: 'country' },
  },
  organization_name: {
    organization_name: { type: 'text', employer: 'name' },
    organization_domain: { type: 'text' },
    organization_industry: { type: 'text', employer: 'industry' },
    organization_employees: { type: 'integer', employer: 'estimated_num_employees' },
    organization_id: { type: 'text' },
  },
  linkedin_url: { linkedin_url: { type: 'text', person: 'proflink_url' }, profile_url: { type: 'text' } },
  person_id: { person_id: { type: 'text', person: 'id' } },
} as const satisfies FieldGroups;

/** All groups of fields of a person. `enriched_contacts` lacks the groups that are added here. */
export const personFieldGroups = {
  ...contactFieldGroups,
  name: { name: { type: 'text', person: 'name' } },
  subdepartments: { subdepartments: { type: 'text[]', person: 'subdepartments' } },
  functions: { functions: { type: 'text[]', person: 'functions' } },
  photo_url: { photo_url: { type: 'text', person: 'photo_url' } },
  microblog_url: { microblog_url: { type: 'text', person: 'microblog_url' } },
  codehost_url: { codehost_url: { type: 'text', person: 'codehost_url' } },
  socialnet_url: { socialnet_url: { type: 'text', person: 'socialnet_url' } },
} as const satisfies FieldGroups;

/** Turns the union of all groups' columns into one type with every column. */
type UnionToIntersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;
type ColumnsOf<Groups> = UnionToIntersection<Groups[keyof Groups]>;

type Columns = ColumnsOf<typeof personFieldGroups>;
type ContactColumnName = keyof ColumnsOf<typeof contactFieldGroups>;
type ValueOf<Name extends keyof Columns> = ValueTypes[Columns[Name]['type']];

/** The columns of `enriched_contacts`. Null means unknown. */
export type ContactColumns = { [Name in ContactColumnName]: ValueOf<Name> | null };

/** The columns of a contact that copy a member of the answer without change. */
export type CopiedColumns = {
  [
    Name in ContactColumnName as [MemberOf<Name, 'person' | 'employer'>] extends [never] ? never : Name
  ]: ContactColumns[Name];
};

/** The members of an answered person or employer that columns copy. Any can be null or missing. */
export type CopiedMembers<Owner extends 'person' | 'employer'> = {
  readonly [Name in keyof Columns as MemberOf<Name, Owner>]?: Readonly<ValueOf<Name>> | null | undefined;
};

/** The member that a column copies; never if the column copies no member of this owner. */
type MemberOf<Name extends keyof Columns, Owner extends string> = Owner extends Owner
  ? Columns[Name] extends Readonly<Record<Owner, infer Member extends string>>
    ? Member
    : never
  : never;

/** All columns, in the order of the groups. */
export const personColumns = Object.entries<FieldGroups[string]>(personFieldGroups).flatMap(
  ([group, columns]) =>
    Object.entries(columns).map(([name, column]) => ({
      name,
      group,
      inContacts: group in contactFieldGroups,
      ...column,
    })),
);
