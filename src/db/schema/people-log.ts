import type { IdentityColumns } from '../../domain/identity/identity-columns.ts';
import type { DeliveryKind } from '../../domain/late-results/delivery-kinds.ts';
import type { Generated } from 'kysely';
import type { Timestamp, GeneratedTimestamp, Json } from './column-types.ts';

/**
 * Facts about one person in one answer, delivery or poll. Runs only add entries. Erasure and retention delete entries,
 * and `enrich rebuild --from-answers` updates them with the facts that a newer release reads.
 */
export interface ObservationsTable {
  observation_id: Generated<string>;
  /** The service of the call, as in `RunOptions`. */
  service: string;
  /** `person:` with the service's id; without an id `row:` with the row that got the person, or `seen:` with a hash. */
  person_key: string;
  /** The service's id. */
  person_id: string | null;
  /** `reused`: an earlier observation, appended for a run that did not have to pay for it again. */
  kind: 'answer' | DeliveryKind | 'reused';
  /** When the service was asked. For `reused`, when the origin was asked. Newer facts replace older ones. */
  asked_at: Timestamp;
  /** When it took effect in the warehouse. */
  recorded_at: GeneratedTimestamp;
  run_id: string;
  /** The call; for `reused`, the call of the origin. */
  attempt_id: string;
  delivery_id: string | null;
  origin_observation_id: string | null;
  /** Key of the employer: `id:…`, `domain:…` or `name:…`; null without an employer. */
  organization_key: string | null;
  /** The employer as the answer described it: `organization_facts`. */
  organization_facts: Buffer | null;
  /** Identity keys that the answer confirms for the person: id, profile, addresses of their own. */
  identity_keys: string[];
  /** `matchKeysOfPerson` of the domain: every row that could be the person shares one. */
  match_keys: Generated<number[]>;
  /** By field group (`personFieldGroups`); further fields under the names of the interface document. */
  facts: Json<Record<string, unknown>>;
}

/** Facts about a company from answers, without personal data. */
export interface OrganizationFactsTable {
  /** SHA-256 of `facts`. */
  facts_hash: Buffer;
  facts: Json<Record<string, unknown>>;
}

/**
 * The identifying cells of CRM contacts that have a match: one entry for each run that changed them.
 */
export interface ContactRecordsTable extends IdentityColumns {
  source: string;
  contact_id: string;
  run_id: string;
  row_number: number;
  recorded_at: GeneratedTimestamp;
  keys: string[];
  /** The outcome of the row, when retention has removed the row. */
  outcome: string | null;
}

/** Decisions about the person of a contact. The newest decision of a run that is not undone counts. */
export interface ContactMatchesTable {
  match_id: Generated<string>;
  source: string;
  contact_id: string;
  service: string;
  /** Null: the contact's cells contradict its earlier person, or another contact could be that person as well. */
  person_key: string | null;
  /** `Evidence` of the domain, or the contradiction. */
  evidence: string;
  /** False: the person was known already, and no call was made for the contact. */
  asked: boolean;
  run_id: string;
  /** The call that found the person. */
  attempt_id: string | null;
  /** 0: a row of another contact led to the decision. */
  row_number: number;
  /** With weak evidence, match keys of the row and the person: rows and people that could be either share one. */
  match_keys: number[] | null;
  /** The undone runs that led to the decision, which counts while all of them are undone; null: always counts. */
  while_undone: string[] | null;
  /** For an answer, when the service was asked: an older answer never replaces a newer decision. */
  decided_at: Timestamp;
  /** When it took effect in the warehouse. */
  recorded_at: GeneratedTimestamp;
}

export interface PeopleLogTables {
  observations: ObservationsTable;
  organization_facts: OrganizationFactsTable;
  contact_records: ContactRecordsTable;
  contact_matches: ContactMatchesTable;
}
