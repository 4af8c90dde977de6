import type { IdentityColumns } from '../../domain/identity/identity-columns.ts';
import type { DeliveryKind } from '../../domain/late-results/delivery-kinds.ts';
import type { Generated } from 'kysely';
import type { Timestamp, GeneratedTimestamp, Json } from './column-types.ts';

/**
 * What one answer, delivery or poll said about one person. Entries are only appended, and removed by erasure and
 * retention.
 */
export interface ObservationsTable {
  observation_id: Generated<string>;
  /** Which service said it, as in `RunOptions`. */
  service: string;
  /** `person:` with the service's id; without an id `row:` with the row that got the person, or `seen:` with a hash. */
  person_key: string;
  /** The service's id. */
  person_id: string | null;
  /** `reused`: an earlier observation, appended for a run that did not have to pay for it again. */
  kind: 'answer' | DeliveryKind | 'reused';
  /** When the service was asked: the newest one speaks for the person. Of a reused one, when its origin was asked. */
  asked_at: Timestamp;
  /** When it took effect in the warehouse. */
  recorded_at: GeneratedTimestamp;
  run_id: string;
  /** The call that said it; of a reused one, the call of its origin. */
  attempt_id: string;
  delivery_id: string | null;
  origin_observation_id: string | null;
  /** `id:…`, `domain:…` or `name:…`; null where nothing is said about an employer. */
  organization_key: string | null;
  /** The employer as the answer described it: `organization_facts`. */
  organization_facts: Buffer | null;
  /** Identity keys that the answer confirms for the person: id, profile, addresses of their own. */
  identity_keys: string[];
  /** `matchKeysOfPerson` of the domain: every row that could be the person shares one. */
  match_keys: Generated<number[]>;
  /** By field group (`personFieldGroups`); then what else the interface document names, under its own names. */
  facts: Json<Record<string, unknown>>;
}

/** What answers said about a company: no personal data. */
export interface OrganizationFactsTable {
  /** SHA-256 of `facts`. */
  facts_hash: Buffer;
  facts: Json<Record<string, unknown>>;
}

/**
 * The cells of a CRM contact that decide who it is, of contacts that have a match: one entry for each run that
 * changed them.
 */
export interface ContactRecordsTable extends IdentityColumns {
  source: string;
  contact_id: string;
  run_id: string;
  row_number: number;
  recorded_at: GeneratedTimestamp;
  keys: string[];
}

/** Decisions which person a contact is; the newest of a run that is not undone holds. */
export interface ContactMatchesTable {
  match_id: Generated<string>;
  source: string;
  contact_id: string;
  service: string;
  /** Null: the contact's cells contradict the person whom it was, or another contact could be that person as well. */
  person_key: string | null;
  /** Why: `Evidence` of the domain, or what contradicts. */
  evidence: string;
  /** False: the person was known already, and no call was made for the contact. */
  asked: boolean;
  run_id: string;
  /** The call that found the person. */
  attempt_id: string | null;
  /** 0: a row of another contact led to the decision. */
  row_number: number;
  /** Of weak evidence, the match keys of the row and of the person: rows and people that could be either share one. */
  match_keys: number[] | null;
  /** Of a decision to which the undo of a run has led, that run: the decision counts while the run is undone. */
  while_undone: string[] | null;
  /** Of an answer, when the service was asked: an older answer never replaces a newer decision. */
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
