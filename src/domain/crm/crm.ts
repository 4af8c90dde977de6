import { z } from 'zod';
import { headerKey, headerName } from '../text/header-name.ts';
import dynamics from './dynamics.json' with { type: 'json' };
import googleContacts from './google-contacts.json' with { type: 'json' };
import hubspot from './hubspot.json' with { type: 'json' };
import labelsOfFields from './labels.json' with { type: 'json' };
import linkedinConnections from './linkedin-connections.json' with { type: 'json' };
import pipedrive from './pipedrive.json' with { type: 'json' };
import salesforce from './salesforce.json' with { type: 'json' };
import service from './service.json' with { type: 'json' };
import zoho from './zoho.json' with { type: 'json' };

/** Fields in an export. All columns of `email` are read; for other fields, the first column with a value. */
export const exportFields = [
  'contact_id',
  'person_id',
  'hashed_email',
  'profile_url',
  'first_name',
  'last_name',
  'name',
  'organization_name',
  'domain',
  'email',
] as const;

/** Fields of a contact that a CRM's importer accepts. */
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

/** Columns of `organizations` that a CRM's importer of companies accepts. */
export const companyFields = [
  'domain',
  'name',
  'website_url',
  'linkedin_url',
  'phone',
  'city',
  'state',
  'country',
  'employees',
] as const;
export type CompanyField = (typeof companyFields)[number];

/** Named lists of headers. `{title}` in a header stands for each entry of the list `title`. */
type Lists = Readonly<Record<string, readonly string[]>>;

/** Headers in languages other than English, by field. A word that means two fields in two languages is left out. */
export const labels: Lists = labelsOfFields;

const names = z.array(z.string().min(1));
const pattern = z.string().transform((text, context) => {
  try {
    return new RegExp(text);
  } catch (error) {
    context.addIssue((error as Error).message);
    return z.NEVER;
  }
});

/** An export of a CRM, and the headers by which it is recognised. `…` in a header means any text. */
const exportSchema = z.strictObject({
  comment: z.string().optional(),
  /** Alternatives. One of them must match with all of its headers; a nested list matches with one header. */
  signatures: z.array(z.array(z.union([z.string().transform((header) => [header]), names]))),
  /** Headers that no other known program writes. Two of them are a signature as well. */
  ownHeaders: names.default([]),
  /** The form of record ids in this export. If all ids of a file have another form, another program wrote it. */
  exportedId: pattern.optional(),
  /** The form of record ids that no other program writes. Ids of this form are a signature too. */
  distinctiveId: pattern.optional(),
  /** Headers of each field, the best first. */
  fields: z.partialRecord(z.enum(exportFields), names),
  /** Columns in which these values mean "opted out". */
  optedOut: z.record(z.string(), names).default({}),
});

const columnSchema = z.strictObject({
  /** The header that the importer recognises, in an English account if it matches by labels. */
  header: z.string(),
  /** Further headers of the field in exports of this CRM. */
  alsoExportedAs: names.default([]),
  /** Labels of the field in accounts of other languages. The importer recognises those of its account. */
  inOtherLanguages: names.default([]),
  /** Maximum length in characters; a longer value fails the row. */
  longest: z.int().optional(),
  /** The CRM may accept only values of an unknown list, so nothing is written. */
  listedValues: z.literal(true).optional(),
});

/** An importer of companies that finds a company by a column, and can leave companies that it finds as they are. */
const companiesSchema = z.strictObject({
  key: z.enum(['domain', 'name']),
  columns: z.partialRecord(z.enum(companyFields), columnSchema.pick({ header: true, longest: true })),
  instruction: z.string(),
});

/** An importer of a CRM. docs/guides/crm-import.md has the sources. */
const importerSchema = z.strictObject({
  title: z.string(),
  idHeader: z.string(),
  idInOtherLanguages: names.default([]),
  /** The form of record ids that the importer accepts. Another id could update a wrong record. */
  acceptedId: pattern,
  /** Headers of the record id in exports, for a CRM whose ids look like those of other programs. */
  idsInExports: names.default([]),
  /** A prefix of record ids in some exports. Ids of contacts lack it, and files for the importer keep it. */
  idPrefix: z.string().optional(),
  columns: z.partialRecord(z.enum(importFields), columnSchema),
  /** Absent: the importer finds no company by its domain or name. */
  companies: companiesSchema.optional(),
  /** Headers of the time at which the CRM last changed a record. */
  modifiedHeaders: names,
  /** Limits of one file: records without the header, and bytes. */
  mostRows: z.int(),
  mostBytes: z.int(),
  byteOrderMark: z.boolean(),
  lineEnd: z.enum(['\n', '\r\n']),
  /** A cell with this text erases the field. */
  erasingCell: z.string().optional(),
  /** What a blank cell of an update does. `erase` if the vendor does not say. */
  blankCells: z.enum(['keep', 'erase']),
  /** How to import the files, in one sentence. */
  instruction: z.string(),
  /** A command that imports one file, with FILE for its name. */
  command: z.string().optional(),
});

const crmSchema = z.strictObject({
  source: z.string(),
  lists: z.record(z.string(), names).default({}),
  exports: z.array(exportSchema),
  importer: importerSchema.optional(),
});

export interface CrmExport extends z.infer<typeof exportSchema> {
  readonly source: string;
}
export type ImportColumn = z.infer<typeof columnSchema>;
/** Properties of one CRM's importer. */
export interface Importer extends z.infer<typeof importerSchema> {
  /** The source name of the CRM's contacts. */
  readonly source: string;
}

/** Expands each header with a placeholder into one header per entry of its list. @throws Error without such a list */
export function expand(headers: readonly string[], lists: Lists): string[] {
  return headers.flatMap((header) => {
    const [placeholder, list] = /\{(\w+)\}/.exec(header) ?? [];
    if (placeholder === undefined) return [header];
    const entries = lists[list!];
    if (entries === undefined) throw new Error(`${header}: no list has the name ${list}`);
    return expand(
      entries.map((entry) => header.replace(placeholder, entry)),
      lists,
    );
  });
}

/**
 * Checks data files of the product.
 *
 * @param file names the file in an error
 * @throws Error with the position in the file
 */
export function checkedData<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  content: unknown,
): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(content);
  if (success) return data;
  const { path, message } = error.issues[0]!;
  throw new Error(`${file}, ${path.join('.')}: ${message}`);
}

interface Crm {
  readonly exports: readonly CrmExport[];
  readonly importer: Importer | undefined;
}

function readCrm(file: string, content: object): Crm {
  const own = 'lists' in content ? (content.lists as Lists) : {};
  const expanded = expandWithin(content, { ...labels, ...own });
  const { source, exports, importer } = checkedData(file, crmSchema, expanded);
  return {
    exports: exports.map((each) => ({ ...each, source })),
    importer: importer && { ...importer, source },
  };
}

/** Expands every list of headers in a JSON value. */
function expandWithin(value: unknown, lists: Lists): unknown {
  if (Array.isArray(value))
    return value.every((each) => typeof each === 'string')
      ? expand(value, lists)
      : value.map((each) => expandWithin(each, lists));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expandWithin(each, lists)]));
}

const crms = {
  hubspot: readCrm('hubspot.json', hubspot),
  salesforce: readCrm('salesforce.json', salesforce),
  pipedrive: readCrm('pipedrive.json', pipedrive),
  zoho: readCrm('zoho.json', zoho),
  dynamics: readCrm('dynamics.json', dynamics),
  service: readCrm('service.json', service),
  'google-contacts': readCrm('google-contacts.json', googleContacts),
  'linkedin-connections': readCrm('linkedin-connections.json', linkedinConnections),
};

/** The exports that are recognised, in any order: a header that fits two CRMs is not recognised. */
export const crmExports: readonly CrmExport[] = Object.values(crms).flatMap(({ exports }) => exports);

/** The values of `--for`. */
export const importerNames = ['hubspot', 'salesforce', 'pipedrive', 'zoho', 'dynamics'] as const;
export type ImporterName = (typeof importerNames)[number];

/** Supported importers, by the value of `enrich export --for`. */
export const importers = Object.fromEntries(
  importerNames.map((name) => [name, crms[name].importer!]),
) as Readonly<Record<ImporterName, Importer>>;

/** All headers of a column in exports of its CRM. */
export function headersOfColumn({ header, alsoExportedAs, inOtherLanguages }: ImportColumn): string[] {
  return [header, ...alsoExportedAs, ...inOtherLanguages];
}

/** All headers of a field in exports of the supported CRMs, in every known language. */
export function headersOfField(field: ImportField): string[] {
  return Object.values(importers).flatMap(({ columns: { [field]: column } }) =>
    column === undefined ? [] : headersOfColumn(column),
  );
}

/** An importer with the headers of an account's language. */
export interface AccountImporter extends Importer {
  /** Fields that the account's exports have. */
  readonly exported: ReadonlySet<ImportField>;
}

/**
 * Replaces the English headers of an importer by those of the account's language, because importers match columns by
 * labels. Exports show these labels. A field that is in no export keeps its English header. Pure.
 *
 * @param exports headers of the CRM's exports, the newest first; the newest with the field decides
 */
export function inAccountLanguage(
  importer: Importer,
  exports: readonly (readonly string[])[],
): AccountImporter {
  // Reversed, so that the first of two columns with the same key wins, as for cells.
  const shown = exports.map(
    (header) => new Map([...header].reverse().map((name) => [headerKey(name), headerName(name)])),
  );
  const labelOf = (english: readonly string[], local: readonly string[]): string | undefined => {
    const ours = english.map(headerKey);
    const keys = [...ours, ...local.map(headerKey)];
    const label = shown.flatMap((each) => keys.flatMap((key) => each.get(key) ?? []))[0];
    if (label === undefined || english.includes(label)) return label && english[0];
    // `E-Mail` and `Email` have the same key. `firstname` is a name of the API, which importers do not accept.
    return local.includes(label) || !ours.includes(headerKey(label)) ? label : english[0];
  };
  const exported = new Set<ImportField>();
  const columns: Importer['columns'] = {};
  for (const field of importFields) {
    const column = importer.columns[field];
    if (column === undefined) continue;
    const { header, alsoExportedAs, inOtherLanguages } = column;
    const label = labelOf([header, ...alsoExportedAs], inOtherLanguages);
    if (label !== undefined) exported.add(field);
    columns[field] = { ...column, header: label ?? header, alsoExportedAs: [header, ...alsoExportedAs] };
  }
  const idHeader = labelOf([importer.idHeader], importer.idInOtherLanguages) ?? importer.idHeader;
  return { ...importer, idHeader, columns, exported };
}
