import { sql, type Kysely } from 'kysely';
import type { RecordedVerdict } from '../../domain/identity/verdicts.ts';
import type { Tables } from '../../db/schema.ts';
import { recordHash } from './contact-decisions.ts';
import { findCandidates, type WithheldPerson } from './find-withheld.ts';
import type { ContactKey } from '../../keys/contact-key.ts';
import { readPersonId, readReviewedContact } from './reviewed-contact.ts';

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
