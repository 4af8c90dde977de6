import type { Warehouse } from '../../../src/db/database.ts';

/** One entry of the log about a person, as a test writes it. */
export interface Said {
  readonly person: string;
  readonly kind?: 'answer' | 'phones' | 'waterfall';
  readonly askedAt: string;
  readonly recordedAt?: string;
  readonly runId: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly organizationKey?: string;
}

const service = 'sandbox';

/** Appends an observation and computes the person anew. */
export async function say({ pool }: Warehouse, said: Said): Promise<void> {
  const {
    person,
    kind = 'answer',
    askedAt,
    recordedAt = askedAt,
    runId,
    facts,
    organizationKey = null,
  } = said;
  await pool.query(
    `with company as (
       insert into enrichment.organization_facts (facts_hash, facts)
       select sha256(key::bytea), '{}' from (select $7::text as key) company where key is not null
       on conflict do nothing
     )
     insert into enrichment.observations (
       service, person_key, person_id, kind, asked_at, recorded_at, run_id, attempt_id,
       delivery_id, organization_key, organization_facts, facts)
     values ($1, $2, $2, $3, $4, $5, $6, 'attempt-' || $6,
       case when $3 <> 'answer' then 'delivery-' || $6 end, $7, sha256($7::text::bytea), $8)`,
    [service, person, kind, askedAt, recordedAt, runId, organizationKey, JSON.stringify(facts)],
  );
  await pool.query(`select enrichment.project($1, array[$2], '{}', '{}')`, [service, person]);
}

/** Appends the decision that a contact is a person, or no person, and computes the contact anew. */
export async function match(
  { pool }: { readonly pool: Pick<Warehouse['pool'], 'query'> },
  contact: {
    /** Not given: hubspot. */
    readonly source?: string;
    readonly contactId: string;
    readonly person: string | null;
    readonly at: string;
    readonly runId: string;
  },
): Promise<void> {
  const { source = 'hubspot' } = contact;
  await pool.query(
    `insert into enrichment.contact_matches (
       source, contact_id, service, person_key, evidence, asked, run_id, row_number,
       decided_at, recorded_at)
     values ($6, $1, $2, $3, 'email', true, $4, 1, $5, $5)`,
    [contact.contactId, service, contact.person, contact.runId, contact.at, source],
  );
  await pool.query(`select enrichment.project($1, '{}', array[$3], array[$2])`, [
    service,
    contact.contactId,
    source,
  ]);
}

/** The facts of a title alone. */
export const titled = (title: string): Readonly<Record<string, unknown>> => ({ title: { title } });

/** The facts of a job, as in observations. */
export function job(
  title: string,
  organization: { readonly id?: string; readonly name?: string; readonly domain?: string },
  more: { readonly email?: string; readonly startedOn?: string } = {},
): Record<string, unknown> {
  return {
    title: { title },
    organization_name: {
      ...(organization.name !== undefined && { organization_name: organization.name }),
      ...(organization.id !== undefined && { organization_id: organization.id }),
      ...(organization.domain !== undefined && { organization_domain: organization.domain }),
    },
    ...(more.email !== undefined && {
      email: { email: more.email, email_status: 'verified', rank: 1 },
    }),
    ...(more.startedOn !== undefined && {
      employment: [
        { title, organization_name: organization.name, started_on: more.startedOn, current: true },
      ],
    }),
  };
}
