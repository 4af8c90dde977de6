import { readFile } from 'node:fs/promises';
import { sql, type Kysely } from 'kysely';
import Papa from 'papaparse';
import type { Tables } from '../db/schema.ts';
import { sameValue } from '../domain/crm/same-value.ts';
import { describeErrorCode, UsageProblem, type Problem } from '../domain/problem.ts';
import { compareNameCells } from '../domain/identity/names/name-agreement.ts';
import { parseDomain, parseEmail } from '../domain/identity/values/email-address.ts';
import { matchRate } from '../domain/runs/match-rate.ts';
import { headerKey } from '../domain/text/header-name.ts';
import { comparedFields, type ComparedField, type RunReport } from '../outputs/report-output.ts';

type Evaluation = NonNullable<RunReport['evaluation']>;
type Values = Readonly<Partial<Record<ComparedField | 'first_name' | 'last_name' | 'name', string | null>>>;

interface ComparedPerson {
  /** Number of the row in the truth file, counted from 1. */
  readonly row: number;
  readonly contactId: string | null;
  readonly known: Values;
  readonly found: Values;
}

const truthColumns = ['contact_id', 'first_name', 'last_name', 'name', ...comparedFields] as const;

interface TruthRow {
  readonly row: number;
  readonly values: Readonly<Partial<Record<(typeof truthColumns)[number], string>>>;
}

/** Compares a source's contacts with a file of known values. The result contains no personal data. */
export async function compareWithTruth(
  database: Kysely<Tables>,
  path: string,
  source: string,
): Promise<Evaluation> {
  const people = await readTruth(path);
  const key = people.some(({ values }) => values.contact_id !== undefined) ? 'contact_id' : 'email';
  const contacts = await readContacts(database, source, key, people);
  const compared = people.map(({ row, values }): ComparedPerson => {
    const contact = contacts.get(row);
    // An e-mail that found the contact is not counted as a found value.
    const known = key === 'email' ? { ...values, email: null } : values;
    return { row, contactId: contact?.contact_id ?? null, known, found: contact ?? {} };
  });
  return { source, key, ...comparePeople(compared) };
}

/** Reads the CSV file of known values. @throws Problem `truth.unreadable` */
async function readTruth(path: string): Promise<TruthRow[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw unreadable(
      path,
      `the truth file cannot be read: ${describeErrorCode(error.code)}`,
      'name a CSV file',
      error,
    );
  });
  const { data } = Papa.parse<string[]>(text.replace(/^\ufeff/, ''), { skipEmptyLines: 'greedy' });
  const [header = [], ...records] = data;
  const columns = header.map((cell) => truthColumns.find((name) => headerKey(name) === headerKey(cell)));
  const isKeyed = columns.includes('contact_id') || columns.includes('email');
  if (columns.includes(undefined) || new Set(columns).size < columns.length || !isKeyed || columns.length < 2)
    throw unreadable(
      path,
      'the columns of the truth file are not known',
      `write contact_id or email as the key, and each other column once: ${truthColumns.slice(1).join(', ')}`,
    );
  return records.map((cells, index) => ({
    row: index + 1,
    values: Object.fromEntries(
      columns.flatMap((name, column) => {
        const value = (cells[column] ?? '').trim();
        return value === '' ? [] : [[name, value]];
      }),
    ),
  }));
}

function unreadable(where: string, what: string, next: string, cause?: unknown): Problem {
  return new UsageProblem('truth.unreadable', what, { where, next, cause });
}

type FoundContact = Values & { readonly row: number; readonly contact_id: string };

/** Finds the contact of each row by its id, or by an e-mail that the CRM's export has for the contact. */
async function readContacts(
  database: Kysely<Tables>,
  source: string,
  key: Evaluation['key'],
  people: readonly TruthRow[],
): Promise<ReadonlyMap<number, FoundContact>> {
  const keyed = people.flatMap(({ row, values }) => {
    const cell = values[key];
    const value = key === 'email' && cell !== undefined ? parseEmail(cell) : cell;
    return value === undefined ? [] : [{ row, value }];
  });
  const truth = sql`
    unnest(${keyed.map(({ row }) => row)}::integer[], ${keyed.map(({ value }) => value)}::text[]) as t (row, key)
  `;
  const named =
    key === 'contact_id'
      ? sql`select t.row, t.key as contact_id from ${truth}`
      : sql`
        select t.row, min(r.contact_id) as contact_id
        from contact_records r
        cross join lateral unnest(r.other_emails || r.email) as e (address)
        join ${truth} on t.key = e.address
        where r.source = ${source}
        group by t.row
      `;
  const { rows } = await sql<FoundContact>`
    select n.row, c.contact_id, c.first_name, c.last_name, c.email, c.phone, c.title, c.organization_name,
      c.organization_domain, c.linkedin_url, c.city, c.state, c.country
    from (${named}) n
    join enriched_contacts c on c.source = ${source} and c.contact_id = n.contact_id
  `.execute(database);
  return new Map(rows.map((contact) => [contact.row, contact]));
}

/** Counts correct values of each field, and lists the rows whose contact is another person. */
function comparePeople(people: readonly ComparedPerson[]): Omit<Evaluation, 'source' | 'key'> {
  const enriched = people.filter(({ contactId }) => contactId !== null);
  return {
    people: people.length,
    enriched: enriched.length,
    fields: comparedFields.map((field) => compareField(field, people)).filter(({ known }) => known > 0),
    identities_compared: enriched.filter(
      ({ known }) => known.linkedin_url || known.name || known.first_name || known.last_name,
    ).length,
    wrong_people: enriched.flatMap(({ row, contactId, known, found }) => {
      const because = contradictionOf(known, found);
      return because === undefined ? [] : [{ row, contact_id: contactId!, because }];
    }),
  };
}

/** `coverage`: share of known values that are filled; `accuracy`: share of filled values that are correct. */
function compareField(field: ComparedField, people: readonly ComparedPerson[]): Evaluation['fields'][number] {
  const known = people.filter((person) => person.known[field]);
  const filled = known.filter((person) => person.found[field]);
  const correct = filled.filter((person) => isSame(field, person.known[field]!, person.found[field]!));
  const [all, some, right] = [known.length, filled.length, correct.length];
  return {
    field,
    known: all,
    filled: some,
    correct: right,
    coverage: matchRate({ found: some, answered: all }) ?? null,
    accuracy: matchRate({ found: right, answered: some }) ?? null,
  };
}

/** True if two values are equal except for their spelling. */
function isSame(field: ComparedField, one: string, other: string): boolean {
  if (field !== 'organization_domain') return sameValue(field, one, other);
  return (parseDomain(one) ?? one) === (parseDomain(other) ?? other);
}

/** Finds out if a contact is another person, by the name first: a profile URL can change with the name. */
function contradictionOf(known: Values, found: Values): 'name' | 'profile' | undefined {
  const profiles = known.linkedin_url && found.linkedin_url;
  if (profiles && isSame('linkedin_url', known.linkedin_url, found.linkedin_url)) return undefined;
  const names = compareNameCells(known, found);
  if (names === 'differ' || names === 'other_first_name') return 'name';
  return names === 'unknown' && profiles ? 'profile' : undefined;
}
