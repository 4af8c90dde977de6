import {
  addressHeaders,
  atWork,
  headersOfPerson,
  idHeaders,
  localHeaders,
  mobile,
  partsOfNames,
} from './local-headers.ts';

/** Fields of a contact that a CRM's importer accepts. `Importer.columns` has the CRM's headers. */
export const importFields = [
  'first_name',
  'last_name',
  'title',
  'email',
  'phone',
  'mobile_phone',
  'city',
  'state',
  'country',
  'organization_name',
  'linkedin_url',
] as const;
export type ImportField = (typeof importFields)[number];

export interface ImportColumn {
  /** The header that the importer recognises, in an English account if it matches by labels. */
  readonly header: string;
  /** Further headers of the field in exports of this CRM. Spelling does not matter: see `headerKey`. */
  readonly alsoExportedAs?: readonly string[];
  /** Labels of the field in accounts of other languages. The importer recognises its account's own. */
  readonly inOtherLanguages?: readonly string[];
  /** Maximum length in characters; a longer value fails the row. */
  readonly longest?: number;
  /**
   * The CRM may accept only values of a list that is not known: nothing is written, and the report has the
   * value.
   */
  readonly listedValues?: true;
}

/** Properties of one CRM's importer. docs/crm-import.md has the sources. */
export interface Importer {
  /** The source name of this CRM's contacts. */
  readonly source: string;
  readonly title: string;
  readonly idHeader: string;
  /** Labels of the record id in accounts of other languages. */
  readonly idInOtherLanguages?: readonly string[];
  /** Format of this CRM's record ids. Any other text would update no record or a wrong one. */
  readonly idPattern: RegExp;
  /** Headers of the record id in exports, if its form does not distinguish it from other ids. */
  readonly idsInExports?: readonly string[];
  /** What record ids of some exports begin with. Contact ids lack the prefix; files for the importer keep it. */
  readonly idPrefix?: string;
  readonly columns: Readonly<Partial<Record<ImportField, ImportColumn>>>;
  /** Headers of the time at which the CRM last changed a record. */
  readonly modifiedHeaders: readonly string[];
  /** Limits of one file: records without the header, and bytes. */
  readonly mostRows: number;
  readonly mostBytes: number;
  readonly byteOrderMark: boolean;
  readonly lineEnd: '\n' | '\r\n';
  /** A cell with exactly this text erases the field. */
  readonly erasingCell?: string;
  /** How to import the files, in one sentence. */
  readonly instruction: string;
  /** A command that imports one file, if the CRM has one. */
  readonly command?: (file: string) => string;
}

const megabyte = 1_000_000;

/** Adds the labels in other languages where a column has none of its own. */
function translated(columns: Importer['columns']): Importer['columns'] {
  return Object.fromEntries(
    Object.entries<ImportColumn>(columns).map(([field, column]) => [
      field,
      { inOtherLanguages: localHeaders[field as ImportField], ...column },
    ]),
  );
}

/** Adds the names in reports of custom types, which have the object before the label: `Contact: Title`. */
function inCustomReports(columns: Importer['columns']): Importer['columns'] {
  return Object.fromEntries(
    Object.entries<ImportColumn>(columns).map(([field, column]) => {
      const names = [column.header, ...(column.alsoExportedAs ?? [])];
      return [field, { ...column, alsoExportedAs: [...names, ...names.map((name) => `Contact: ${name}`)] }];
    }),
  );
}

/** Supported importers, by the value of `enrich export --for`. */
export const importers = {
  hubspot: {
    source: 'hubspot',
    title: 'HubSpot',
    idHeader: 'Record ID',
    idInOtherLanguages: idHeaders,
    idsInExports: ['Record ID', 'Record ID - Contact', 'hs_object_id', ...idHeaders],
    idPattern: /^\d+$/,
    columns: translated({
      first_name: { header: 'First Name' },
      last_name: { header: 'Last Name' },
      title: { header: 'Job Title' },
      email: { header: 'Email' },
      phone: { header: 'Phone Number', alsoExportedAs: ['phone'] },
      mobile_phone: { header: 'Mobile Phone Number', alsoExportedAs: ['mobilephone'] },
      city: { header: 'City' },
      state: { header: 'State/Region', alsoExportedAs: ['state'] },
      country: { header: 'Country/Region', alsoExportedAs: ['country'] },
      organization_name: { header: 'Company Name', alsoExportedAs: ['company'] },
      linkedin_url: { header: 'LinkedIn URL', alsoExportedAs: ['hs_linkedin_url', 'LinkedIn'] },
    }),
    modifiedHeaders: ['Last Modified Date', 'hs_lastmodifieddate'],
    // Paid plans accept 512 MB and 1,048,576 rows with the header; free tools accept 20 MB.
    mostRows: 1_048_575,
    mostBytes: 20 * megabyte,
    byteOrderMark: false,
    lineEnd: '\r\n',
    instruction: 'Import each file under "Update existing contacts"; columns are matched by their names.',
  },
  salesforce: {
    source: 'salesforce',
    title: 'Salesforce',
    idHeader: 'Id',
    idPattern: /^003[A-Za-z0-9]{12}(?:[A-Za-z0-9]{3})?$/,
    // API names, whatever the language of the account; exports of reports have labels.
    columns: inCustomReports({
      first_name: { header: 'FirstName', alsoExportedAs: localHeaders.first_name, longest: 40 },
      last_name: { header: 'LastName', alsoExportedAs: localHeaders.last_name, longest: 80 },
      title: { header: 'Title', longest: 128 },
      email: { header: 'Email', alsoExportedAs: localHeaders.email, longest: 80 },
      phone: { header: 'Phone', alsoExportedAs: localHeaders.phone, longest: 40 },
      mobile_phone: {
        header: 'MobilePhone',
        alsoExportedAs: ['Mobile', ...localHeaders.mobile_phone],
        longest: 40,
      },
      city: { header: 'MailingCity', longest: 40 },
      // Orgs with state and country picklists accept only listed values, and the export does not show whether
      // an org has them.
      state: { header: 'MailingState', alsoExportedAs: ['Mailing State/Province'], listedValues: true },
      country: { header: 'MailingCountry', listedValues: true },
    }),
    modifiedHeaders: ['LastModifiedDate', 'SystemModstamp', 'Contact: Last Modified Date'],
    // A Bulk API batch: 10,000 rows and 10 MB.
    mostRows: 10_000,
    mostBytes: 10 * megabyte,
    byteOrderMark: false,
    lineEnd: '\n',
    erasingCell: '#N/A',
    instruction: 'Update contacts with Data Loader or the Salesforce CLI; "Insert null values" stays off.',
    command: (file) => `sf data update bulk --sobject Contact --wait 30 --file ${file}`,
  },
  pipedrive: {
    source: 'pipedrive',
    title: 'Pipedrive',
    idHeader: 'Person - Pipedrive System ID',
    idsInExports: ['Person - Pipedrive System ID', ...headersOfPerson(['ID'])],
    idPattern: /^\d+$/,
    columns: {
      first_name: {
        header: 'Person - First name',
        inOtherLanguages: headersOfPerson(partsOfNames(localHeaders.first_name)),
      },
      last_name: {
        header: 'Person - Last name',
        inOtherLanguages: headersOfPerson(partsOfNames(localHeaders.last_name)),
      },
      title: {
        header: 'Person - Job title',
        alsoExportedAs: ['Person - Title'],
        inOtherLanguages: headersOfPerson(localHeaders.title),
      },
      email: {
        header: 'Person - Email (Work)',
        alsoExportedAs: ['Person - Email'],
        inOtherLanguages: headersOfPerson(localHeaders.email, ['', ...atWork]),
      },
      phone: {
        header: 'Person - Phone (Work)',
        alsoExportedAs: ['Person - Phone'],
        inOtherLanguages: headersOfPerson(localHeaders.phone, ['', ...atWork]),
      },
      mobile_phone: {
        header: 'Person - Phone (Mobile)',
        inOtherLanguages: headersOfPerson(localHeaders.phone, mobile),
      },
    },
    modifiedHeaders: ['Person - Update time'],
    mostRows: 50_000,
    mostBytes: 50 * megabyte,
    byteOrderMark: false,
    lineEnd: '\r\n',
    instruction: 'Import each file from "Import data"; map "Person - Pipedrive System ID" to the system id.',
  },
  zoho: {
    source: 'zoho',
    title: 'Zoho CRM',
    idHeader: 'Record Id',
    idsInExports: ['Record Id'],
    idPattern: /^(?:zcrm_)?\d+$/,
    idPrefix: 'zcrm_',
    columns: translated({
      first_name: { header: 'First Name', longest: 40 },
      last_name: { header: 'Last Name', longest: 80 },
      title: { header: 'Title', longest: 100 },
      email: { header: 'Email', longest: 100 },
      phone: { header: 'Phone', longest: 50 },
      mobile_phone: { header: 'Mobile', longest: 30 },
      city: { header: 'Mailing City', inOtherLanguages: [], longest: 100 },
      state: { header: 'Mailing State', inOtherLanguages: [], longest: 100 },
      country: { header: 'Mailing Country', inOtherLanguages: [], longest: 100 },
    }),
    modifiedHeaders: ['Modified Time'],
    mostRows: 25_000,
    mostBytes: 25 * megabyte,
    byteOrderMark: false,
    lineEnd: '\r\n',
    instruction: 'Import each file as "Update existing contacts only", matched by Record Id.',
  },
  dynamics: {
    source: 'dynamics365',
    title: 'Dynamics 365',
    idHeader: 'Contact',
    idPattern: /^[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$/,
    columns: translated({
      first_name: { header: 'First Name', longest: 50 },
      last_name: { header: 'Last Name', longest: 50 },
      title: { header: 'Job Title', longest: 100 },
      email: { header: 'Email', alsoExportedAs: ['emailaddress1'], longest: 100 },
      phone: { header: 'Business Phone', alsoExportedAs: ['telephone1'], longest: 50 },
      mobile_phone: { header: 'Mobile Phone', longest: 50 },
      city: { header: 'Address 1: City', inOtherLanguages: addressHeaders(localHeaders.city), longest: 80 },
      state: {
        header: 'Address 1: State/Province',
        alsoExportedAs: ['address1_stateorprovince'],
        inOtherLanguages: addressHeaders(localHeaders.state),
        longest: 50,
      },
      country: {
        header: 'Address 1: Country/Region',
        alsoExportedAs: ['address1_country'],
        inOtherLanguages: addressHeaders(localHeaders.country),
        longest: 80,
      },
    }),
    modifiedHeaders: ['(Do Not Modify) Modified On', 'Modified On'],
    mostRows: 50_000,
    mostBytes: 8 * megabyte,
    byteOrderMark: true,
    lineEnd: '\r\n',
    instruction:
      'Import each file with a data map that uses "Contact" as the alternate key; ' +
      'a CSV file cannot be re-imported as a workbook.',
  },
} as const satisfies Record<string, Importer>;

export type ImporterName = keyof typeof importers;

/** The values of `--for`. */
export const importerNames = Object.keys(importers) as ImporterName[];

/** All headers of a column in exports of its CRM. */
export function headersOfColumn({
  header,
  alsoExportedAs = [],
  inOtherLanguages = [],
}: ImportColumn): string[] {
  return [header, ...alsoExportedAs, ...inOtherLanguages];
}

/** All headers of a field in exports of the supported CRMs, in every known language. */
export function headersOfField(field: ImportField): string[] {
  return Object.values<Importer>(importers).flatMap(({ columns: { [field]: column } }) =>
    column === undefined ? [] : headersOfColumn(column),
  );
}
