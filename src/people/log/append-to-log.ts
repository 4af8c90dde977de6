import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import type { DeliveryKind } from '../../domain/late-results/delivery-kinds.ts';
import { logJson } from './log-json.ts';
import type { ObservedFacts } from './observation.ts';

export interface Observation extends ObservedFacts {
  readonly person_key: string;
  /** The log had no such person when the answer was compared with it. */
  readonly is_new?: boolean;
  readonly kind: 'answer' | DeliveryKind;
  /** When the service was asked, by the database's clock in full precision. */
  readonly asked_at: string;
  readonly run_id: string;
  readonly attempt_id: string;
  readonly delivery_id: string | null;
}

/** The decision that a contact is a person, or no longer a person. */
export interface MatchDecision {
  readonly source: string;
  readonly contact_id: string;
  /** Null: the contact is no longer its former person. */
  readonly person_key: string | null;
  /** `keysOf` of `KnownRecords` of the person; null: the person has one key. */
  readonly person_keys?: readonly string[] | null;
  readonly evidence: string;
  readonly asked: boolean;
  readonly run_id: string;
  readonly attempt_id: string | null;
  /** 0: a row of another contact led to the decision. */
  readonly row_number: number;
  /** `matchKeysOfMatch`, for weak evidence. */
  readonly match_keys: readonly number[] | null;
  /** The decision counts only while all these runs are undone; without any, always. */
  readonly while_undone?: readonly string[];
  readonly decided_at: string;
}

export interface LogEntries {
  readonly observations: readonly Observation[];
  readonly matches: readonly MatchDecision[];
}

/**
 * Appends to the log and projects the people and contacts of the new entries, in one statement. Entries of an undone
 * run are kept, and take effect when the undo is reverted.
 *
 * @throws serialization failure (40001) if a person who is new is in the log by now
 */
export async function appendToLog(
  transaction: Transaction<Tables>,
  service: string,
  entries: LogEntries,
): Promise<void> {
  if (entries.observations.length === 0 && entries.matches.length === 0) return;
  const { observations, organizations } = logJson(entries.observations);
  await sql`
    select append_to_log(${service}, ${observations}::jsonb, ${organizations}::jsonb,
      ${JSON.stringify(entries.matches)}::jsonb)
  `.execute(transaction);
}
