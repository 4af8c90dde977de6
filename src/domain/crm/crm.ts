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

/** Fields of a contact in an export. All columns of `email` are read, and of the others the first that has a value. */
export const contactFields = [
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

/** Named lists of headers. `{title}` in a header stands for each entry of the list `title`. */
type Lists = Readonly<Record<string, readonly string[]>>;

/** Headers in other languages than English, by field. A word that names two fields in two languages is missing. */
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

/** An export of a CRM, as `docs/exports.md` describes how it is recognised. `…` in a header means any text. */
const exportSchema = z.strictObject({
  comment: z.string().optional(),
  /** Alternatives. All headers of one must be present; of a list within it, one header. */
  signatures: z.array(z.array(z.union([z.string(), names]))),
  /** Headers that no other known program writes. Two columns with such headers are a signature too. */
  ownHeaders: names.default([]),
  /** The form of the CRM's record ids. */
  idForm: pattern.optional(),
  /** The form of record ids that no other program writes. Ids of this form are a signature too. */
  ownIdForm: pattern.optional(),
  /** Headers of each field, the best first. */
  fields: z.partialRecord(z.enum(contactFields), names),
  /** Columns in which these values mean "opted out". */
  optedOut: z.record(z.string(), names).default({}),
});

const columnSchema = z.strictObject({
  /** The header that the importer recognises, in an English account if it matches by labels. */
  header: z.string(),
  /** Further headers of the field in exports of this CRM. */
  alsoExportedAs: names.default([]),
  /** Labels of the field in accounts of other languages. The importer recognises its account's own. */
  inOtherLanguages: names.default([]),
  /** Maximum length in characters; a longer value fails the row. */
  longest: z.int().optional(),
  /** The CRM may accept only values of a list that is not known: nothing is written. */
  listedValues: z.literal(true).optional(),
});

/** An importer of a CRM. docs/crm-import.md has the sources. */
const importerSchema = z.strictObject({
  title: z.string(),
  idHeader: z.string(),
  idInOtherLanguages: names.default([]),
  /** The form of this CRM's record ids. Any other text would update no record or a wrong one. */
  idPattern: pattern,
  /** Headers of the record id in exports, if its form does not distinguish it from other ids. */
  idsInExports: names.default([]),
  /** What record ids of some exports begin with. Contact ids lack the prefix; files for the importer keep it. */
  idPrefix: z.string().optional(),
  columns: z.partialRecord(z.enum(importFields), columnSchema),
  /** Headers of the time at which the CRM last changed a record. */
  modifiedHeaders: names,
  /** Limits of one file: records without the header, and bytes. */
  mostRows: z.int(),
  mostBytes: z.int(),
  byteOrderMark: z.boolean(),
  lineEnd: z.enum(['\n', '\r\n']),
  /** A cell with exactly this text erases the field. */
  erasingCell: z.string().optional(),
  /** What a blank cell of an update does; `erase` also where the vendor does not say. */
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

export interface CrmExport extends Omit<z.infer<typeof exportSchema>, 'signatures'> {
  readonly source: string;
  /** Alternatives, each a list of columns that must all be present, each by one of these headers. */
  readonly signatures: readonly (readonly (readonly string[])[])[];
}
export type ImportColumn = z.infer<typeof columnSchema>;
/** Properties of one CRM's importer. */
export interface Importer extends z.infer<typeof importerSchema> {
  /** The source name of the CRM's contacts. */
  readonly source: string;
}

/** Writes a header for each entry of the lists that its placeholders name. @throws Error without such a list */
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
 * Checks data that the product was built with.
 *
 * @param file names the file in an error
 * @throws Error with the place in the file
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

function readCrm(file: string, content: unknown): Crm {
  const { source, lists: own, exports, importer } = checkedData(file, crmSchema, content);
  const lists = { ...labels, ...own };
  const all = (headers: readonly string[]): string[] => expand(headers, lists);
  return {
    exports: exports.map((each) => ({
      ...each,
      source,
      signatures: each.signatures.map((signature) => signature.map((headers) => all([headers].flat()))),
      ownHeaders: all(each.ownHeaders),
      fields: mapValues(each.fields, (headers) => all(headers ?? [])),
    })),
    importer: importer && {
      ...importer,
      source,
      idInOtherLanguages: all(importer.idInOtherLanguages),
      idsInExports: all(importer.idsInExports),
      modifiedHeaders: all(importer.modifiedHeaders),
      columns: mapValues(importer.columns, (column) => ({
        ...column!,
        inOtherLanguages: all(column!.inOtherLanguages),
        alsoExportedAs: all(column!.alsoExportedAs),
      })),
    },
  };
}

function mapValues<Key extends string, Value, Result>(
  record: Partial<Record<Key, Value>>,
  change: (value: Value | undefined) => Result,
): Partial<Record<Key, Result>> {
  const changed = Object.entries<Value | undefined>(record).map(([key, value]) => [key, change(value)]);
  return Object.fromEntries(changed) as Partial<Record<Key, Result>>;
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

/** The exports that are recognised. The order does not matter: a header that fits two CRMs is not recognised. */
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

/**
 * Replaces an importer's English headers by those of the account's language, because importers match columns by the
 * account's labels. Exports show these labels. A field that no export has keeps its English header. Pure.
 *
 * @param exports the headers of the CRM's exports, the newest first
 */
export function inAccountLanguage(importer: Importer, exports: readonly (readonly string[])[]): Importer {
  // Reversed, so that of two columns with one key the first counts, as for cells.
  const shown = exports.map(
    (header) => new Map([...header].reverse().map((name) => [headerKey(name), headerName(name)])),
  );

  /** The newest export that has the field decides. `E-Mail` and `Email` have one key, so an exact label goes first. */
  const labelOf = (english: readonly string[], local: readonly string[]): string => {
    const all = [...english, ...local];
    for (const label of shown) {
      const name =
        all.find((each) => label.get(headerKey(each)) === each) ??
        all.find((each) => label.has(headerKey(each)));
      if (name !== undefined) return english.includes(name) ? english[0]! : label.get(headerKey(name))!;
    }
    return english[0]!;
  };

  return {
    ...importer,
    idHeader: labelOf([importer.idHeader], importer.idInOtherLanguages),
    columns: mapValues(importer.columns, (column) => {
      const { header, alsoExportedAs, inOtherLanguages } = column!;
      const english = [header, ...alsoExportedAs];
      return { ...column!, header: labelOf(english, inOtherLanguages), alsoExportedAs: english };
    }),
  };
}
