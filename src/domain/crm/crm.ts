import { z } from 'zod';
import { headerKey, tidyHeader } from '../text/header-name.ts';
import dynamics from './dynamics.json' with { type: 'json' };
import googleContacts from './google-contacts.json' with { type: 'json' };
import hubspot from './hubspot.json' with { type: 'json' };
import labelsOfFields from './labels.json' with { type: 'json' };
import linkedinConnections from './linkedin-connections.json' with { type: 'json' };
import pipedrive from './pipedrive.json' with { type: 'json' };
import salesforce from './salesforce.json' with { type: 'json' };
import service from './service.json' with { type: 'json' };
import zoho from './zoho.json' with { type: 'json' };

/** Fields that the product reads from an export: all columns of `email`, otherwise the first with a value. */
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

/** Named lists of texts for headers. `{title}` in a header stands for each entry of the list `title`. */
type Lists = Readonly<Record<string, readonly string[]>>;

/** Headers in languages other than English, by field. A header that means two fields in two languages is left out. */
export const headersByField: Lists = labelsOfFields;

const names = z.array(z.string().min(1));
/** A regular expression as text. An invalid one becomes an issue of the schema. */
const pattern = z.string().transform((text, context) => {
  try {
    return new RegExp(text);
  } catch (error) {
    context.addIssue((error as Error).message);
    return z.NEVER;
  }
});

/** Schema of a CRM's export and the headers that show it. `…` in a header means any text. */
const exportSchema = z.strictObject({
  comment: z.string().optional(),
  /** Sets of headers. All headers of one set show the export; of a nested list, one header is enough. */
  signatures: z.array(z.array(z.union([z.string().transform((header) => [header]), names]))),
  /** Headers that no other known program writes. Two of these headers are enough to recognise the export. */
  ownHeaders: names.default([]),
  /** Pattern of record ids in this export. If no id of a file has this form, another program wrote the file. */
  exportedId: pattern.optional(),
  /** Pattern of record ids that no other program writes. Ids of this form are enough to recognise the export. */
  distinctiveId: pattern.optional(),
  /** Headers of each field in this export, the best first. */
  fields: z.partialRecord(z.enum(exportFields), names),
  /** Columns of this export that record an opt-out, with the values that mean "opted out". */
  optedOut: z.record(z.string(), names).default({}),
});

const columnSchema = z.strictObject({
  /** The header that the importer recognises, or the label in an English account. */
  header: z.string(),
  /** Further headers of this field in exports of the same CRM. */
  alsoExportedAs: names.default([]),
  /** Labels in accounts of other languages. An importer recognises those of its account's language. */
  inOtherLanguages: names.default([]),
  /** Maximum length of a value in characters. A longer value makes the import of the row fail. */
  longest: z.int().optional(),
  /** True if the CRM may accept only listed values. Nothing is written, because the list is unknown. */
  listedValues: z.literal(true).optional(),
});

/** Schema of an importer that finds companies by a column, and can leave found companies unchanged. */
const companiesSchema = z.strictObject({
  key: z.enum(['domain', 'name']),
  columns: z.partialRecord(z.enum(companyFields), columnSchema.pick({ header: true, longest: true })),
  instruction: z.string(),
});

/** Schema of a CRM's importer. docs/guides/crm-import.md names the sources of these facts. */
const importerSchema = z.strictObject({
  title: z.string(),
  idHeader: z.string(),
  idInOtherLanguages: names.default([]),
  /** Pattern of record ids that the importer accepts. An id of another form could update a wrong record. */
  acceptedId: pattern,
  /** Headers of the record id in exports. Set if the ids of this CRM look like the ids of other programs. */
  idsInExports: names.default([]),
  /** A prefix of record ids in some exports and in importer files. The warehouse stores ids without it. */
  idPrefix: z.string().optional(),
  columns: z.partialRecord(z.enum(importFields), columnSchema),
  /** Importer of companies; undefined if the CRM's importer cannot find a company by domain or name. */
  companies: companiesSchema.optional(),
  /** Headers of the column that contains the time of the CRM's last change of a record. */
  modifiedHeaders: names,
  /** Maximum size of one importer file: records without the header, and bytes. */
  maxRows: z.int(),
  maxBytes: z.int(),
  byteOrderMark: z.boolean(),
  lineEnd: z.enum(['\n', '\r\n']),
  /** A cell with this text makes the importer erase the field. */
  erasingCell: z.string().optional(),
  /** Effect of a blank cell in an update; `erase` if the vendor's documentation leaves this open. */
  blankCells: z.enum(['keep', 'erase']),
  /** One sentence that tells the operator how to import the files. */
  instruction: z.string(),
  /** A command that imports one file. FILE stands for the file's name. */
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
/** The importer of one CRM. */
export interface Importer extends z.infer<typeof importerSchema> {
  /** Source name of contacts that come from this CRM, such as `hubspot`. */
  readonly source: string;
}

/** Expands `{list}` in headers into one header per entry. @throws Error if the list does not exist */
export function expandPlaceholders(headers: readonly string[], lists: Lists): string[] {
  return headers.flatMap((header) => {
    const [placeholder, list] = /\{(\w+)\}/.exec(header) ?? [];
    if (placeholder === undefined) return [header];
    const entries = lists[list!];
    if (entries === undefined) throw new Error(`${header}: no list has the name ${list}`);
    return expandPlaceholders(
      entries.map((entry) => header.replace(placeholder, entry)),
      lists,
    );
  });
}

/** Checks a data file of the product, such as hubspot.json. @throws Error with the position in the file */
export function requireValidData<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
  content: unknown,
): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(content);
  if (success) return data;
  const { path, message } = error.issues[0]!;
  throw new Error(`${file}, ${path.join('.')}: ${message}`);
}

/** What the product knows of a CRM. `importer` is undefined if `enrich export --for` does not support it. */
interface Crm {
  readonly exports: readonly CrmExport[];
  readonly importer: Importer | undefined;
}

/** Reads the data file of a CRM. @throws Error with the position in the file */
function readCrm(file: string, content: object): Crm {
  const own = 'lists' in content ? (content.lists as Lists) : {};
  const expanded = expandWithin(content, { ...headersByField, ...own });
  const { source, exports, importer } = requireValidData(file, crmSchema, expanded);
  return {
    exports: exports.map((each) => ({ ...each, source })),
    importer: importer && { ...importer, source },
  };
}

/** Expands every list of headers in a JSON value. */
function expandWithin(value: unknown, lists: Lists): unknown {
  if (Array.isArray(value))
    return value.every((each) => typeof each === 'string')
      ? expandPlaceholders(value, lists)
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

/** The recognised exports. Their order does not matter: a header that fits two CRMs is not recognised. */
export const crmExports: readonly CrmExport[] = Object.values(crms).flatMap(({ exports }) => exports);

/** Names of CRMs that `enrich export --for` accepts. */
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

/** An importer with the headers of a CRM account that is not in English. */
export interface AccountImporter extends Importer {
  /** Fields that the exports of this CRM account contain. */
  readonly exported: ReadonlySet<ImportField>;
}

/**
 * Replaces an importer's English headers by the labels in exports, because importers match columns by labels of their
 * account's language. A field that is in no export keeps its English header.
 *
 * @param exports headers of the CRM's exports, the newest first; the newest export with the field decides
 */
export function importerInAccountLanguage(
  importer: Importer,
  exports: readonly (readonly string[])[],
): AccountImporter {
  // The list is reversed so that the first of two columns with the same key wins, as in the reading of cells.
  const shown = exports.map(
    (header) => new Map([...header].reverse().map((name) => [headerKey(name), tidyHeader(name)])),
  );
  /** The header to write for a field; undefined if no export has the field. */
  const labelOf = (english: readonly string[], local: readonly string[]): string | undefined => {
    const ours = english.map(headerKey);
    const keys = [...ours, ...local.map(headerKey)];
    const label = shown.flatMap((each) => keys.flatMap((key) => each.get(key) ?? []))[0];
    if (label === undefined || english.includes(label)) return label && english[0];
    // A known label of the language is kept even if its key equals that of the English label (`E-Mail`). Any other
    // header with this key, such as the API's `firstname`, is not accepted by importers.
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
