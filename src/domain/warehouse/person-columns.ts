type ColumnType = keyof ValueTypes;

type Members = Readonly<Record<string, ColumnType>>;

interface Column {
  readonly type: ColumnType;
  /** What the column means, as psql, dbt and BI tools show it. */
  readonly comment: string;
  /** Member of the person, or of their employer, whose value the column has. Others are computed by `contactFields`. */
  readonly person?: string;
  readonly employer?: string;
  /** The members, with their types, from which `contactFields` computes the column. */
  readonly computedFrom?: { readonly person?: Members; readonly employer?: Members };
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
 * generated from this table, and so are the members of `Person` that the columns take.
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
        computedFrom: { person: { email: 'text' } },
        comment: 'Work address; placeholders are left out',
      },
      email_status: {
        type: 'text',
        computedFrom: { person: { email: 'text', email_status: 'text' } },
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
        computedFrom: { employer: { primary_domain: 'text', website_url: 'text' } },
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
        computedFrom: { person: { organization_id: 'text' }, employer: { id: 'text' } },
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
        computedFrom: { person: { proflink_url: 'text' } },
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
type Merged<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
type Columns = Merged<Group['columns']>;
type Values<Of> = { -readonly [Name in keyof Of]: ValueTypes[TypeOf<Of[Name]>] | null };
type TypeOf<Facts> = Facts extends { readonly type: infer Type extends ColumnType } ? Type : never;

/** The columns of `enriched_contacts`; null: unknown. */
export type ContactColumns = Values<Merged<Extract<Group, { readonly inContacts: true }>['columns']>>;

/** The columns of a contact that copy a field of the answer. */
export type CopiedColumns = Pick<ContactColumns, Copied<keyof ContactColumns>>;
type Copied<Name extends keyof Columns> = Name extends Name
  ? Columns[Name] extends { readonly person: string } | { readonly employer: string }
    ? Name
    : never
  : never;

/** The members of an answered person, or of the employer, that columns take; any can be null or missing. */
export type AnsweredMembers<Owner extends 'person' | 'employer'> = CopiedMembers<Owner> &
  ComputedMembers<Merged<MembersOf<Columns[keyof Columns], Owner>>>;

type CopiedMembers<Owner extends string> = {
  readonly [
    Name in keyof Columns as Columns[Name] extends Readonly<Record<Owner, infer Member extends string>>
      ? Member
      : never
  ]?: Answered<TypeOf<Columns[Name]>>;
};
type ComputedMembers<Of> = {
  readonly [Name in keyof Of]?: Answered<Extract<Of[Name], ColumnType>>;
};
type MembersOf<Facts, Owner extends string> = Facts extends {
  readonly computedFrom: Readonly<Record<Owner, infer Of>>;
}
  ? Of
  : never;
type Answered<Type extends ColumnType> = Readonly<ValueTypes[Type]> | null | undefined;

/** All columns with their facts, in the order of the groups. */
export const personColumns = Object.entries<FieldGroup>(personFieldGroups).flatMap(
  ([group, { columns, inContacts }]) =>
    Object.entries(columns).map(([name, column]) => ({ name, group, inContacts, ...column })),
);
