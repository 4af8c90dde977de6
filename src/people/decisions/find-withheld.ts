import { sql, type Kysely } from 'kysely';
import { verdictsOn, weakReason, contestedReason, isPossible } from '../../domain/identity/decide-person.ts';
import { weigh } from '../../domain/identity/identity-evidence.ts';
import { identityKeys } from '../../domain/identity/identity-keys.ts';
import { matchKeysOfIdentity, matchKeysOfIdentityKeys } from '../../domain/identity/match-keys.ts';
import { exportOrder, isExport } from '../../db/valid-entries.ts';
import type { Tables } from '../../db/schema.ts';
import { readRows, type ContactState } from '../contacts/contact-states.ts';
import { asCandidate, readNeighbourhood } from '../contacts/neighbourhood.ts';
import { ByMatchKey, readKnownPeople } from '../known/known-people.ts';
import { contactKey, type ContactKey, type RowKey } from '../../keys/contact-key.ts';
import type { RecordedVerdict } from '../../domain/identity/verdicts.ts';
import { recordHash } from './contact-decisions.ts';
import { readPersonId, readReviewedContact } from './reviewed-contact.ts';

/** A known person whose data a contact does not get. */
export interface WithheldPerson {
  /** Id at the service. */
  readonly person_id: string;
  readonly reason: string;
}

/** A contact with a known person whose data it does not get. */
export interface WithheldContact extends WithheldPerson {
  readonly source: string;
  readonly contact_id: string;
  readonly run_id: string;
  readonly row_number: number;
}

const rowsPerBatch = 500;

/**
 * Finds contacts without a person, of ended runs, that share an identifier, a shared mailbox, or name and employer with
 * a known person, and that have no decision about this person. Those of the newest export come first.
 */
export async function findWithheld(
  database: Kysely<Tables>,
  { source, limit }: { readonly source: string | undefined; readonly limit: number },
): Promise<readonly WithheldContact[]> {
  const found: WithheldContact[] = [];
  for await (const { service, rows } of newestUnfilled(database, source)) {
    const read = await readRows(database, service, rows);
    const states = read.filter(({ personKey }) => personKey === null);
    const people = await findCandidates(database, service, states);
    for (const [index, { source: ofSource, contactId, runId, rowNumber }] of states.entries())
      for (const person of people[index]!)
        found.push({
          source: ofSource,
          contact_id: contactId,
          ...person,
          run_id: runId,
          row_number: rowNumber,
        });
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Batches of unfilled rows, those of the newest export first. An earlier row of a contact says nothing. */
async function* newestUnfilled(
  database: Kysely<Tables>,
  source: string | undefined,
): AsyncGenerator<{ readonly service: string; readonly rows: readonly (RowKey & ContactKey)[] }> {
  const seen = new Set<string>();
  for (const { run_id: runId, service } of await readRuns(database, source)) {
    let read;
    do {
      read = await readUnfilled(database, runId, read?.at(-1)?.rowNumber ?? 0);
      const rows = read.filter((row) => !seen.has(contactKey(row.source, row.contactId)));
      for (const row of rows) seen.add(contactKey(row.source, row.contactId));
      yield { service, rows };
    } while (read.length === rowsPerBatch);
  }
}

async function readRuns(
  database: Kysely<Tables>,
  source: string | undefined,
): Promise<readonly { readonly run_id: string; readonly service: string }[]> {
  const { rows } = await sql<{ run_id: string; service: string }>`
    select run_id, options ->> 'service' as service
    from runs
    where ${sql.raw(isExport('runs'))}
      and finished_at is not null
      and source = coalesce(${source ?? null}::text, source)
    order by ${sql.raw(exportOrder('runs'))} desc
  `.execute(database);
  return rows;
}

/** Reads rows of a run that may have lost or not got a person whom an answer has named. */
async function readUnfilled(
  database: Kysely<Tables>,
  runId: string,
  after: number,
): Promise<readonly (RowKey & ContactKey)[]> {
  const { rows } = await sql<RowKey & ContactKey>`
    select r.run_id as "runId", r.row_number as "rowNumber", runs.source, r.contact_id as "contactId"
    from run_rows r
    join runs on runs.run_id = r.run_id
    where r.run_id = ${runId}
      and r.row_number > ${after}
      and r.outcome is distinct from 'suppressed'
      and r.keys <> '{}'
      and not exists (select from contacts c where c.source = runs.source and c.contact_id = r.contact_id)
    order by r.row_number
    limit ${rowsPerBatch}
  `.execute(database);
  return rows;
}

/** Finds known people who could be each of the contacts, and whom the contact does not have. */
async function findCandidates(
  database: Kysely<Tables>,
  service: string,
  contacts: readonly ContactState[],
): Promise<readonly (readonly WithheldPerson[])[]> {
  if (contacts.length === 0) return [];
  const nearby = await readNeighbourhood(database, service, contacts, []);
  const people = new ByMatchKey(
    await readKnownPeople(database, service, { matchKeys: [...new Set(contacts.flatMap(keysOf))] }),
  );
  return contacts.map((contact) => {
    const { decision, people: compared } = nearby.decide(contact);
    const refused = new Map(
      decision.kind === 'refused'
        ? decision.indexes.map((index) => [compared[index]!.personKey, decision.reason])
        : [],
    );
    const near = people.sharing(keysOf(contact));
    const decided = verdictsOn(
      near.map((person) => asCandidate(person, contact)),
      contact.verdicts,
    );
    return near.flatMap((person, index): WithheldPerson[] => {
      const { personId } = person.compared;
      if (personId === undefined || person.personKey === contact.personKey || decided[index]) return [];
      const fit = weigh(contact.compared, person.compared);
      const weakDoubt = contact.wasAsked ? contestedReason : weakReason;
      const doubt = fit.strength === 'none' ? fit.reason : weakDoubt;
      if (!isPossible(fit) && !(fit.strength === 'none' && fit.sharesIdentifier)) return [];
      return [{ person_id: personId, reason: refused.get(person.personKey) ?? doubt }];
    });
  });
}

/** The keys of people who could be the contact, also by a shared mailbox without the name. */
function keysOf({ compared: { identity } }: ContactState): number[] {
  const { firstName: _, lastName: __, name: ___, ...nameless } = identity;
  return [...new Set([...matchKeysOfIdentity(identity), ...matchKeysOfIdentityKeys(identityKeys(nameless))])];
}

export interface MadeDecision {
  /** Id of the person at the service. */
  readonly person_id: string;
  readonly verdict: RecordedVerdict;
  /** The newest decision about contact and person, made about a record that identifies the contact in the same way. */
  readonly holds: boolean;
  readonly reason: string | null;
  readonly decided_by: string;
  readonly decided_at: Date;
}

/** What somebody who decides about a contact needs to know, without personal data. */
export interface Review {
  readonly source: string;
  readonly contact_id: string;
  /** Id of the person whom the contact has; null: it has none. */
  readonly person_id: string | null;
  readonly evidence: string | null;
  readonly candidates: readonly WithheldPerson[];
  /** The newest first. */
  readonly decisions: readonly MadeDecision[];
}

/** @throws Problem `contact.unknown`, `contact.unidentified` */
export async function readReview(database: Kysely<Tables>, contact: ContactKey): Promise<Review> {
  const { service, state } = await readReviewedContact(database, contact);
  const [candidates = []] = await findCandidates(database, service, [state]);
  const hash = recordHash(state.compared.identity);
  const { rows } = await sql<
    Omit<MadeDecision, 'holds'> & { readonly record_hash: string; readonly is_newest: boolean }
  >`
    select coalesce(p.person_id, regexp_replace(d.person_key, '^person:', '')) as person_id, d.verdict, d.reason,
      d.decided_by, d.decided_at, d.record_hash,
      d.decision_id = max(d.decision_id) over (partition by d.person_key) as is_newest
    from contact_decisions d
    left join people p on p.service = d.service and p.person_key = d.person_key
    where d.source = ${contact.source} and d.contact_id = ${contact.contactId} and d.service = ${service}
    order by d.decision_id desc
  `.execute(database);
  return {
    source: contact.source,
    contact_id: contact.contactId,
    person_id: await readPersonId(database, contact),
    evidence: state.evidence,
    candidates,
    decisions: rows.map(({ record_hash: recorded, is_newest: isNewest, ...decision }) => ({
      ...decision,
      holds: isNewest && recorded === hash && decision.verdict !== 'withdrawn',
    })),
  };
}
