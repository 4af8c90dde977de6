import { recordedVerdicts } from '../../../../domain/identity/verdicts.ts';
import { oneOf } from '../../../one-of.ts';

/** Decisions that people make about contacts; `column-comments` explains the columns. */
export const contactDecisions = [
  `create table enrichment.contact_decisions (
    decision_id bigint generated always as identity primary key,
    source text not null,
    contact_id text not null,
    service text not null,
    person_key text not null,
    verdict text not null check (verdict in (${oneOf(recordedVerdicts)})),
    -- The decision holds for rows with these identifiers and this name.
    record_hash text not null,
    reason text,
    decided_by text not null,
    decided_at timestamptz not null default clock_timestamp()
  )`,
  `create index contact_decisions_by_contact
    on enrichment.contact_decisions (source, contact_id, service, person_key, decision_id desc)`,
  `create index contact_decisions_by_person on enrichment.contact_decisions (person_key, service)`,
];
