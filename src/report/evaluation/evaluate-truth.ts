import { sql, type Kysely } from 'kysely';
import { evaluatePeople, type EvaluatedPerson, type Evaluation } from '../../domain/evaluation/evaluate.ts';
import { parseEmail } from '../../domain/identity/values/email-address.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { contactIdOf } from '../../ingest/columns/rows/contact-id.ts';
import type { Tables } from '../../db/schema.ts';
import { contactSources, requireSource } from '../../people/contacts/contact-sources.ts';
import { readTruth, type TruthRow } from './read-truth.ts';

/**
 * Compares the warehouse with a truth file.
 *
 * @param source whose contacts the file has; undefined: the only source of the warehouse
 * @throws Problem `truth.unreadable`, `truth.source`, `source.unknown`
 */
export async function evaluateTruth(
  database: Kysely<Tables>,
  path: string,
  source: string | undefined,
): Promise<Evaluation> {
  if (source !== undefined) await requireSource(database, source);
  const people = await readTruth(path);
  const of = source ?? (await onlySource(database));
  const key = people.some(({ values }) => values.contact_id !== undefined) ? 'contact_id' : 'email';
  const found = await readContacts(database, of, key, people);
  const compared = people.map(({ row, values }): EvaluatedPerson => {
    const { contact_id: _, ...known } = values;
    const contact = found.get(row);
    // The key itself is no finding.
    const { email, ...others } = known;
    return {
      row,
      contactId: contact?.contact_id ?? null,
      known: key === 'email' ? others : { ...others, ...(email !== undefined && { email }) },
      found: contact ?? {},
    };
  });
  return { source: of, key, ...evaluatePeople(compared) };
}

async function onlySource(database: Kysely<Tables>): Promise<string> {
  const sources = await contactSources(database);
  if (sources.length === 1) return sources[0]!;
  throw new UsageProblem(
    'truth.source',
    sources.length === 0 ? 'the warehouse has no contacts' : 'the warehouse has contacts of several sources',
    {
      where: '--source',
      next:
        sources.length === 0
          ? 'enrich an export first: enrich run FILE'
          : `name one of ${sources.join(', ')}`,
    },
  );
}

interface FoundContact {
  readonly row: number;
  readonly contact_id: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly title: string | null;
  readonly organization_name: string | null;
  readonly organization_domain: string | null;
  readonly linkedin_url: string | null;
  readonly city: string | null;
  readonly state: string | null;
  readonly country: string | null;
}

/** Row of the file → the contact that it names. An address names the contact whose export has it. */
async function readContacts(
  database: Kysely<Tables>,
  source: string,
  key: Evaluation['key'],
  people: readonly TruthRow[],
): Promise<ReadonlyMap<number, FoundContact>> {
  const keyed = people.flatMap(({ row, values }) => {
    const cell = values[key];
    if (cell === undefined) return [];
    const value = key === 'email' ? parseEmail(cell) : contactIdOf(source, cell, [], row);
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
