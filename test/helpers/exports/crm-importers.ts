import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Papa from 'papaparse';
import type { ImporterName } from '../../../src/domain/crm/crm.ts';

/** Records of a CRM: record id → field label → value. */
export type CrmRecords = Map<string, Map<string, string>>;

interface CompanyRules {
  /** The column by which the importer finds a company. */
  readonly key: string;
  readonly fields: readonly string[];
}

interface ImporterRules {
  /** A record id in the CRM's format. */
  readonly id: (number: number) => string;
  readonly idHeader: string;
  /** Labels that the importer maps automatically. */
  readonly fields: readonly string[];
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly byteOrderMark: boolean;
  /** What a blank cell of an update does in the worst documented case. */
  readonly blank: 'keeps' | 'erases';
  readonly longest?: Readonly<Record<string, number>>;
  readonly erasingCell?: string;
  /** Rules for companies; undefined if the importer finds no company by domain or name. */
  readonly companies?: CompanyRules;
}

/**
 * Rules of each CRM's importer, from the vendors' documentation (docs/guides/crm-import.md) and not from our writer.
 */
export const importerRules: Readonly<Record<ImporterName, ImporterRules>> = {
  hubspot: {
    id: (number) => String(4_000 + number),
    idHeader: 'Record ID',
    fields: [
      'First Name',
      'Last Name',
      'Email',
      'Job Title',
      'Phone Number',
      'Mobile Phone Number',
      'Company Name',
      'City',
      'State/Region',
      'Country/Region',
      'LinkedIn URL',
    ],
    maxRows: 1_048_575,
    maxBytes: 512_000_000,
    byteOrderMark: false,
    blank: 'keeps',
    companies: {
      key: 'Company domain name',
      fields: [
        'Company domain name',
        'Company name',
        'LinkedIn company page',
        'Phone Number',
        'City',
        'State/Region',
        'Country/Region',
        'Number of Employees',
      ],
    },
  },
  salesforce: {
    id: (number) => `003${String(number).padStart(12, 'A')}AAA`,
    idHeader: 'Id',
    fields: ['FirstName', 'LastName', 'Title', 'Email', 'Phone', 'MobilePhone', 'MailingCity'],
    maxRows: 10_000,
    maxBytes: 10_000_000,
    byteOrderMark: false,
    blank: 'erases',
    longest: { FirstName: 40, LastName: 80, Title: 128, Email: 80, Phone: 40 },
    erasingCell: '#N/A',
  },
  pipedrive: {
    id: (number) => String(number + 1),
    idHeader: 'Person - Pipedrive System ID',
    fields: [
      'Person - First name',
      'Person - Last name',
      'Person - Job title',
      'Person - Email (Work)',
      'Person - Phone (Work)',
      'Person - Phone (Mobile)',
    ],
    maxRows: 50_000,
    maxBytes: 50_000_000,
    byteOrderMark: false,
    blank: 'erases',
  },
  zoho: {
    id: (number) => `50${String(number).padStart(16, '0')}`,
    idHeader: 'Record Id',
    fields: [
      'First Name',
      'Last Name',
      'Email',
      'Title',
      'Phone',
      'Mobile',
      'Mailing City',
      'Mailing State',
      'Mailing Country',
    ],
    maxRows: 25_000,
    maxBytes: 25_000_000,
    byteOrderMark: false,
    blank: 'erases',
    companies: {
      key: 'Account Name',
      fields: [
        'Account Name',
        'Website',
        'Phone',
        'Billing City',
        'Billing State',
        'Billing Country',
        'Employees',
      ],
    },
  },
  dynamics: {
    id: (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    idHeader: 'Contact',
    fields: [
      'First Name',
      'Last Name',
      'Job Title',
      'Email',
      'Business Phone',
      'Mobile Phone',
      'Address 1: City',
      'Address 1: State/Province',
      'Address 1: Country/Region',
    ],
    maxRows: Number.POSITIVE_INFINITY,
    maxBytes: 8_000_000,
    byteOrderMark: true,
    blank: 'erases',
  },
};

/**
 * Imports every update file of a folder as the CRM would, in update-only mode.
 *
 * @returns the records afterwards
 * @throws Error if the importer would refuse a file or fail a row
 */
export function importFolder(name: ImporterName, folder: string, records: CrmRecords): CrmRecords {
  const rules = importerRules[name];
  const after: CrmRecords = new Map([...records].map(([id, fields]) => [id, new Map(fields)]));
  for (const file of readdirSync(folder).filter((each) => each.startsWith('update-')))
    importFile(rules, readFileSync(join(folder, file)), after);
  return after;
}

/**
 * Imports the companies of a folder as new companies only: a company that the CRM has stays as it is.
 *
 * @returns the companies afterwards, by their key
 * @throws Error if the importer would refuse a file, or takes two rows as one company
 */
export function importCompanies(name: ImporterName, folder: string, records: CrmRecords): CrmRecords {
  const { companies, ...rules } = importerRules[name];
  const after = new Map(records);
  const created = new Set<string>();
  for (const file of readdirSync(folder).filter((each) => each.startsWith('companies-'))) {
    const { header, rows } = readFile(rules, readFileSync(join(folder, file)));
    const place = header.indexOf(companies!.key);
    const unknown = header.filter((label) => !companies!.fields.includes(label));
    if (place < 0 || unknown.length > 0) throw new Error(`unmapped columns: ${unknown.join(', ')}`);
    for (const row of rows) {
      const key = row[place]!.toLowerCase();
      if (key === '' || created.has(key)) throw new Error(`no key, or a key twice: ${key}`);
      created.add(key);
      if (!records.has(key)) after.set(key, new Map(header.map((label, index) => [label, row[index]!])));
    }
  }
  return after;
}

function importFile(rules: ImporterRules, bytes: Buffer, records: CrmRecords): void {
  const { header, rows } = readFile(rules, bytes);
  if (header[0] !== rules.idHeader) throw new Error('no id column');
  const unknown = header.slice(1).filter((label) => !rules.fields.includes(label));
  if (unknown.length > 0) throw new Error(`unmapped columns: ${unknown.join(', ')}`);
  for (const row of rows) {
    const record = records.get(row[0]!);
    if (!record) throw new Error(`no record ${row[0]}`);
    for (const [index, label] of header.entries()) if (index > 0) setField(rules, record, label, row[index]!);
  }
}

function readFile(rules: ImporterRules, bytes: Buffer): { header: string[]; rows: string[][] } {
  if (bytes.length > rules.maxBytes) throw new Error('the file is too large');
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  if (text.startsWith('\uFEFF') !== rules.byteOrderMark) throw new Error('another byte order mark');
  const { data, errors } = Papa.parse<string[]>(text.replace(/^\uFEFF/, '').replace(/\r?\n$/, ''));
  if (errors.length > 0) throw new Error(errors[0]!.message);
  const [header = [], ...rows] = data;
  if (rows.length > rules.maxRows) throw new Error('too many rows');
  if (rows.some((row) => row.length !== header.length)) throw new Error('a ragged row');
  return { header, rows };
}

function setField(rules: ImporterRules, record: Map<string, string>, label: string, value: string): void {
  if (value.length > (rules.longest?.[label] ?? Number.POSITIVE_INFINITY))
    throw new Error(`${label} is too long`);
  if (value === rules.erasingCell || (value === '' && rules.blank === 'erases')) record.delete(label);
  else if (value !== '') record.set(label, value);
}
