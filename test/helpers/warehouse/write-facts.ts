import { sql, type Transaction } from 'kysely';
import { fieldOfColumn, identityColumns, type Identity } from '../../../src/domain/identity/identity.ts';
import { identityKeys } from '../../../src/domain/identity/identity-keys.ts';
import { matchKeysOfIdentity, contactOwnerKey } from '../../../src/domain/identity/match-keys.ts';
import type { Tables } from '../../../src/db/schema.ts';
import type { Warehouse } from '../../../src/db/database.ts';
import { digestQueued, withDigestLocked } from '../../../src/people/digest.ts';
import { queueContacts, queuePeople } from '../../../src/people/digest-queue.ts';
import { writeObservations, type NewObservation } from '../../../src/people/people-tables.ts';
import type { Person } from '../../../src/domain/identity/person.ts';
import {
  factsOfAnswer,
  factsOfLateResult,
  personKeyOfId,
  personKeyWithoutId,
} from '../../../src/people/observation.ts';

/** A match as a test writes it, with the record of its contact. */
export interface WrittenMatch {
  readonly source: string;
  readonly contactId: string;
  /** Key of the person; null if the contact loses its person. */
  readonly personKey: string | null;
  readonly evidence?: string;
  readonly runId: string;
  readonly rowNumber?: number;
  readonly attemptId?: string;
  readonly at?: string;
  /** Identifying cells of the contact's record; default: the id of the person. */
  readonly identity?: Identity;
}

/** Writes observations and matches at one service as the digest does. */
export async function writeFacts(
  { database }: Pick<Warehouse, 'database'>,
  service: string,
  observations: readonly Omit<NewObservation, 'service'>[],
  matches: readonly WrittenMatch[] = [],
): Promise<void> {
  await withDigestLocked(database, async (transaction) => {
    await writeObservations(
      transaction,
      observations.map((each) => ({ ...each, service })),
    );
    for (const written of matches) {
      await writeRun(transaction, written, service);
      await writeRecord(transaction, written);
    }
    await queueContacts(transaction, matches);
    const keys = [...observations, ...matches].flatMap(({ personKey }) => personKey ?? []);
    await queuePeople(
      transaction,
      keys.map((personKey) => ({ service, personKey })),
    );
    await digestQueued(transaction, database);
    for (const written of matches) await appendMatch(transaction, written, service);
  });
}

/** Sets the time and the call of the test in the match that the digest has decided. */
async function appendMatch(
  transaction: Transaction<Tables>,
  written: WrittenMatch,
  service: string,
): Promise<void> {
  const { source, contactId, personKey, runId, rowNumber = 1 } = written;
  const at = sql`coalesce(${written.at ?? null}::timestamptz, clock_timestamp())`;
  await sql`
    update contact_matches set valid_to = ${at}, ended_reason = 'test'
    where source = ${source} and contact_id = ${contactId} and person_key is distinct from ${personKey}
      and ended_reason is distinct from 'test'
  `.execute(transaction);
  if (personKey === null) return;
  await sql`
    insert into contact_matches (source, contact_id, service, person_key, evidence, asked, run_id, row_number,
      attempt_id, valid_from)
    values (${source}, ${contactId}, ${service}, ${personKey}, ${written.evidence ?? 'person_id'}, true, ${runId},
      ${rowNumber}, ${written.attemptId ?? null}, ${at})
    on conflict (source, contact_id) where valid_to is null do update
    set evidence = excluded.evidence, asked = true, run_id = excluded.run_id, row_number = excluded.row_number,
      attempt_id = excluded.attempt_id, valid_from = least(contact_matches.valid_from, excluded.valid_from)
  `.execute(transaction);
}

/** Writes the run of a record, unless the test has begun it. */
async function writeRun(
  transaction: Transaction<Tables>,
  { source, runId }: WrittenMatch,
  service: string,
): Promise<void> {
  await sql`
    insert into runs (run_id, run_key, workflow_id, source, status, file_path, file_name, file_sha256, options)
    values (${runId}, ${runId}, ${runId}, ${source}, 'finished', 'x', 'x', 'x', ${JSON.stringify({ service })})
    on conflict do nothing
  `.execute(transaction);
}

/** Writes the record of a contact, as an export of the run would; without a person it has no cells. */
async function writeRecord(
  transaction: Transaction<Tables>,
  { source, contactId, runId, rowNumber = 1, identity, personKey }: WrittenMatch,
): Promise<void> {
  const cells = identity ?? (personKey === null ? {} : { personId: personKey.replace(/^person:/, '') });
  const matchKeys = matchKeysOfIdentity(cells);
  await sql`
    insert into contact_records (source, contact_id, run_id, row_number, keys, match_keys, ${identityCells})
    values (${source}, ${contactId}, ${runId}, ${rowNumber}, ${identityKeys(cells)}, ${matchKeys}, ${sql.join(
      identityColumns.map((column) => cells[fieldOfColumn[column]] ?? null),
    )})
    on conflict (source, contact_id, run_id) do update
    set keys = excluded.keys, match_keys = excluded.match_keys, person_id = excluded.person_id
  `.execute(transaction);
  await sql`
    insert into contact_keys (key, source, contact_id)
    select unnest(${matchKeys}::integer[]), ${source}, ${contactId}
    on conflict do nothing
  `.execute(transaction);
}

const identityCells = sql.raw(identityColumns.join(', '));

/** One observation about a person, as a test writes it into the log. */
export interface WrittenObservation {
  readonly person: string;
  readonly kind?: 'answer' | 'phones' | 'waterfall';
  readonly askedAt: string;
  readonly recordedAt?: string;
  readonly runId: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Appends an observation to the log, and computes the person again. */
export async function writeObservation(warehouse: Warehouse, said: WrittenObservation): Promise<void> {
  const { person, kind = 'answer', askedAt, recordedAt = askedAt, runId, facts } = said;
  const { organization_id: id } = (facts['organization_name'] ?? {}) as { organization_id?: string };
  await writeFacts(warehouse, 'test', [
    {
      personKey: person,
      person_id: person,
      kind,
      askedAt,
      recordedAt,
      runId,
      attemptId: `attempt-${runId}`,
      deliveryId: kind === 'answer' ? null : `delivery-${runId}`,
      organization_key: id === undefined ? null : `id:${id}`,
      organization: id === undefined ? null : {},
      identity_keys: [],
      match_keys: matchKeysOfIdentity({ personId: person }),
      facts: { ...(kind === 'answer' && { person_id: { person_id: person } }), ...facts },
    },
  ]);
}

/** Writes that a contact is a certain person, or no person, since a time. */
export async function writeMatch(
  warehouse: Pick<Warehouse, 'database'>,
  contact: {
    /** Source of the contact; default: hubspot. */
    readonly source?: string;
    readonly contactId: string;
    readonly person: string | null;
    readonly at: string;
    readonly runId: string;
  },
): Promise<void> {
  const { source = 'hubspot', contactId, person: personKey, at, runId } = contact;
  await writeFacts(warehouse, 'test', [], [{ source, contactId, personKey, at, runId }]);
}

/** Writes an observation about a person, and that the contact with the name of the person is this person. */
export async function writeContact(warehouse: Warehouse, said: WrittenObservation): Promise<void> {
  await writeObservation(warehouse, said);
  const { person, askedAt: at, runId } = said;
  await writeMatch(warehouse, { contactId: person, person, at, runId });
}

/** Facts of an observation that has only a title. */
export const titleFacts = (title: string): Readonly<Record<string, unknown>> => ({ title: { title } });

/** Facts of an observation about a job. */
export function jobFacts(
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

export interface AppendedContact {
  readonly source?: string;
  readonly service?: string;
  readonly contactId: string;
  readonly runId: string;
  readonly attemptId?: string;
  readonly rowNumber?: number;
  readonly askedAt?: string;
  readonly person: Person;
  /** Phone numbers of a delivery about the contact. */
  readonly phones?: readonly string[];
  readonly phoneType?: string | undefined;
}

/** Appends to the log that a contact is a person, as the recording of an answer and a delivery does. */
export async function appendContact(warehouse: Warehouse, contact: AppendedContact): Promise<void> {
  const {
    source = 'generic',
    service = 'test',
    contactId,
    runId,
    attemptId = `attempt of ${runId}`,
    rowNumber = 1,
    person,
  } = contact;
  const askedAt = contact.askedAt ?? '2026-11-20T08:00:00Z';
  const answered = factsOfAnswer(person);
  // A person without an id has only the match keys of the own contact.
  const said = person.id ? answered : { ...answered, match_keys: [contactOwnerKey(source, contactId)] };
  const row = { runId, rowNumber, attemptId, matchIndex: 0 };
  const key = said.person_id === null ? personKeyWithoutId(row) : personKeyOfId(said.person_id);
  const call = { personKey: key, askedAt, runId, attemptId };
  const delivered = {
    phones: (contact.phones ?? []).map((number, position) => ({
      rawNumber: undefined,
      sanitizedNumber: number,
      type: contact.phoneType,
      status: undefined,
      dncStatus: undefined,
      confidence: undefined,
      position,
    })),
    emails: [],
  };
  await writeFacts(
    warehouse,
    service,
    [
      { ...said, ...call, kind: 'answer', deliveryId: null },
      ...(contact.phones
        ? [
            {
              ...factsOfLateResult(said.person_id, 'phones', delivered),
              ...call,
              kind: 'phones' as const,
              deliveryId: `delivery of ${runId}`,
            },
          ]
        : []),
    ],
    [
      {
        source,
        contactId,
        personKey: key,
        runId,
        attemptId,
        rowNumber,
        ...(!person.id && { identity: identityOf(person) }),
      },
    ],
  );
}

function identityOf({ email, first_name: firstName, last_name: lastName }: Person): Identity {
  return { ...(email && { email }), ...(firstName && { firstName }), ...(lastName && { lastName }) };
}
