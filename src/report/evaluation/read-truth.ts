import { describeCode } from '../../domain/error-code.ts';
import { readFile } from 'node:fs/promises';
import Papa from 'papaparse';
import { evaluatedFields, type EvaluatedField, type NamePart } from '../../domain/evaluation/evaluate.ts';
import { UsageProblem, type Problem } from '../../domain/problem.ts';
import { headerKey, shownHeaders } from '../../domain/text/header-name.ts';
import { commonNames } from '../../ingest/columns/recognition/common-names.ts';
import { knownExports } from '../../ingest/columns/recognition/known-exports.ts';

export type TruthField = EvaluatedField | NamePart | 'contact_id';

export interface TruthRow {
  /** From 1, header excluded. */
  readonly row: number;
  readonly values: Readonly<Partial<Record<TruthField, string>>>;
}

const ownNames: Readonly<Partial<Record<TruthField, readonly string[]>>> = {
  phone: ['phone', 'phone number', 'mobile', 'mobile phone', 'mobile phone number', 'direct phone'],
  title: ['title', 'job title', 'position'],
  organization_name: ['organization', 'organisation', 'company', 'account name'],
  organization_domain: ['organization domain', 'company domain', 'domain', 'website'],
  city: ['city', 'town'],
  state: ['state', 'state/region', 'region'],
  country: ['country', 'country/region'],
};

/** Fields of exports that have another name there. */
const exportField = { organization_domain: 'domain', linkedin_url: 'profile_url' } as const;
const truthFields: readonly TruthField[] = [
  'contact_id',
  'first_name',
  'last_name',
  'name',
  ...evaluatedFields,
];

/**
 * Reads a CSV file of known values: the CRM's record id or the e-mail address says whose they are, and every column
 * with a known name is compared.
 *
 * @throws Problem `truth.unreadable`
 */
export async function readTruth(path: string): Promise<TruthRow[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unreadable(
      path,
      `the truth file cannot be read: ${describeCode(error.code)}`,
      'name a CSV file',
      error,
    );
  });
  const { data } = Papa.parse<string[]>(text.replace(/^\ufeff/, ''), { skipEmptyLines: 'greedy' });
  const [header, ...records] = data;
  if (header === undefined)
    throw unreadable(path, 'the truth file is empty', 'name a CSV file with a header');
  const columns = columnsOf(header);
  const isKeyed = columns.has('contact_id') || columns.has('email');
  if (!isKeyed || columns.size < 2)
    throw unreadable(
      path,
      isKeyed ? 'the truth file has no known values' : 'the truth file does not say whose the values are',
      'write a CSV file with a header: the record id of the CRM or the email, and columns such as phone, title, ' +
        `organization; the header is: ${shownHeaders(header)}`,
    );
  return records.map((cells, index) => ({
    row: index + 1,
    values: Object.fromEntries(
      [...columns].flatMap(([field, column]) => {
        const value = (cells[column] ?? '').trim();
        return value === '' ? [] : [[field, value]];
      }),
    ),
  }));
}

function columnsOf(header: readonly string[]): ReadonlyMap<TruthField, number> {
  const keys = header.map(headerKey);
  return new Map(
    truthFields.flatMap((field): [TruthField, number][] => {
      const column = namesOf(field)
        .map((name) => keys.indexOf(headerKey(name)))
        .find((at) => at !== -1);
      return column === undefined ? [] : [[field, column]];
    }),
  );
}

function namesOf(field: TruthField): string[] {
  const named = field in exportField ? exportField[field as keyof typeof exportField] : field;
  const ofExports = [...knownExports.map((known) => known.fields), commonNames].flatMap(
    (names) => names[named as keyof typeof names] ?? [],
  );
  return [field, ...(ownNames[field] ?? []), ...ofExports];
}

function unreadable(where: string, what: string, next: string, cause?: unknown): Problem {
  return new UsageProblem('truth.unreadable', what, { where, next, cause });
}
