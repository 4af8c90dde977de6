type ColumnType = keyof ValueTypes;

interface Column {
  readonly type: ColumnType;
  /** What the column means, as psql, dbt and BI tools show it. */
  readonly comment: string;
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
      first_name: { type: 'text', person: 'first_name', comment: 'First name' },
      last_name: { type: 'text', person: 'last_name', comment: 'Last name' },
    },
    inContacts: true,
  },
  email: {
    columns: {
      email: {
        type: 'text',
        comment: 'Work address; placeholders are left out',
      },
      email_status: {
        type: 'text',
        comment: 'Status of the address as the service states it, such as verified',
      },
    },
    inContacts: true,
  },
  phone: {
    columns: { phone: { type: 'text', comment: 'Best number of the person; docs/late-results.md' } },
    inContacts: true,
  },
  title: {
    columns: { title: { type: 'text', person: 'title', comment: 'Job title' } },
    inContacts: true,
  },
  headline: {
    columns: { headline: { type: 'text', person: 'headline', comment: 'Headline of the profile' } },
    inContacts: true,
  },
  seniority: {
    columns: { seniority: { type: 'text', person: 'seniority', comment: 'Level of the job' } },
    inContacts: true,
  },
  departments: {
    columns: { departments: { type: 'text[]', person: 'departments', comment: 'Departments of the job' } },
    inContacts: true,
  },
  city: {
    columns: {
      city: { type: 'text', person: 'city', comment: 'City' },
      state: { type: 'text', person: 'state', comment: 'State or region' },
      country: { type: 'text', person: 'country', comment: 'Country' },
    },
    inContacts: true,
  },
  organization_name: {
    columns: {
      organization_name: { type: 'text', employer: 'name', comment: 'Name of the employer' },
      organization_domain: {
        type: 'text',
        comment: 'Domain of the employer',
      },
      organization_industry: { type: 'text', employer: 'industry', comment: 'Industry of the employer' },
      organization_employees: {
        type: 'integer',
        employer: 'estimated_num_employees',
        comment: 'Number of employees of the employer',
      },
      organization_id: {
        type: 'text',
        comment: 'Id of the company at the service',
      },
    },
    inContacts: true,
  },
  linkedin_url: {
    columns: {
      linkedin_url: {
        type: 'text',
        person: 'proflink_url',
        comment: 'Profile as the service states it, without tracking parameters',
      },
      profile_url: {
        type: 'text',
        comment: 'Profile in the normalised form that identifies the person',
      },
    },
    inContacts: true,
  },
  person_id: {
    columns: { person_id: { type: 'text', person: 'id', comment: 'Id of the person at the service' } },
    inContacts: true,
  },
  name: { columns: { name: { type: 'text', person: 'name', comment: 'Full name' } }, inContacts: false },
  subdepartments: {
    columns: {
      subdepartments: { type: 'text[]', person: 'subdepartments', comment: 'Parts of the departments' },
    },
    inContacts: false,
  },
  functions: {
    columns: { functions: { type: 'text[]', person: 'functions', comment: 'Functions of the job' } },
    inContacts: false,
  },
  photo_url: {
    columns: { photo_url: { type: 'text', person: 'photo_url', comment: 'Picture of the profile' } },
    inContacts: false,
  },
  microblog_url: {
    columns: {
      microblog_url: { type: 'text', person: 'microblog_url', comment: 'Profile at the microblog' },
    },
    inContacts: false,
  },
  codehost_url: {
    columns: { codehost_url: { type: 'text', person: 'codehost_url', comment: 'Profile at the code host' } },
    inContacts: false,
  },
  socialnet_url: {
    columns: {
      socialnet_url: { type: 'text', person: 'socialnet_url', comment: 'Profile at the social network' },
    },
    inContacts: false,
  },
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
