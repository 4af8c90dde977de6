import { createHash } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import type { DeliveryKind, LateKind } from '../../domain/late-results/delivery-kinds.ts';
import { factsOfLateResult, keyOfId, type ObservedFacts } from './observation.ts';
import type { DeliveredPhone } from '../../domain/identity/values/phone.ts';
import type { LateLookups } from '../known/lookup-history.ts';
import { reuseLateResults } from './reuse-observations.ts';

interface Observation extends ObservedFacts {
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

/** A person of an answer whom a late result is for. */
export interface LateRecipient {
  readonly personId: string;
  readonly runId: string;
  /** Null: the answer gave the person to no row. */
  readonly rowNumber: number | null;
  readonly attemptId: string;
  /** When the service was asked, by the database's clock in full precision. */
  readonly askedAt: string;
  readonly emails: readonly string[];
  /** The run is undone: new entries take effect only when the undo is reverted. */
  readonly undone: boolean;
}

/** A person of a delivery, assigned to a person of an answer. */
export interface GivenLateResult {
  readonly recipient: LateRecipient;
  readonly person: {
    readonly phones: readonly DeliveredPhone[];
    readonly emails: readonly { readonly email: string; readonly status: string | undefined }[];
  };
  /** The kinds of results in the body. */
  readonly kinds: readonly LateKind[];
}

/**
 * Appends the results of a delivery: one observation per person and call, or several if the body names the person with
 * different results. A later call that uses this delivery gets its own observation, so that an undo of the earlier run
 * does not remove it. People without a row were paid for as well: a contact that is shown to be such a person later has
 * these results.
 *
 * @returns what to record in the lookup history, once for each transaction
 */
export async function recordLateResults(
  transaction: Transaction<Tables>,
  delivery: {
    readonly deliveryId: string;
    readonly kind: DeliveryKind;
    readonly service: string;
  },
  given: readonly GivenLateResult[],
): Promise<LateLookups> {
  const observations = new Map<string, Observation>();
  for (const { recipient, person } of given) {
    const facts = factsOfLateResult(recipient.personId, delivery.kind, person);
    // Two rows may be one person, and a body may name a person several times, with the same results or with others.
    observations.set(`${recipient.attemptId} ${JSON.stringify(facts)}`, {
      ...facts,
      person_key: keyOfId(recipient.personId),
      kind: delivery.kind,
      asked_at: recipient.askedAt,
      run_id: recipient.runId,
      attempt_id: recipient.attemptId,
      delivery_id: delivery.deliveryId,
    });
  }
  await appendToLog(transaction, delivery.service, { observations: [...observations.values()], matches: [] });
  const ofUndone = given.flatMap(({ recipient }) => (recipient.undone ? [recipient] : []));
  for (const attemptId of new Set(ofUndone.map((recipient) => recipient.attemptId)))
    await reuseLateResults(transaction, {
      service: delivery.service,
      attemptId,
      personKeys: ofUndone.flatMap((each) => (each.attemptId === attemptId ? [keyOfId(each.personId)] : [])),
    });
  return {
    people: given.flatMap(({ recipient, kinds }) =>
      kinds.map((lateKind) => ({ ...recipient, personKey: keyOfId(recipient.personId), lateKind })),
    ),
    learned: [...observations.values()].flatMap(({ person_key: personKey, identity_keys: keys }) =>
      keys.flatMap((identityKey) => (identityKey === personKey ? [] : [{ personKey, identityKey }])),
    ),
  };
}

/** Entries of the log as JSON text, with each company once. */
interface LogJson {
  /** The entries; `organization_facts` is the hash of the company, or null. */
  readonly observations: string;
  /** `hash` and `facts` of each company. */
  readonly organizations: string;
}

/**
 * Writes entries of the log as JSON. Companies are hashed here: most of an answer describes companies, and PostgreSQL
 * spent a fifth of its time at 60 KB a person on writing them as text again to hash them.
 */
export function logJson(entries: readonly Pick<ObservedFacts, 'organization'>[]): LogJson {
  const organizations = new Map<string, string>();
  const observations = entries.map(({ organization, ...entry }) => {
    if (organization === null) return { ...entry, organization_facts: null };
    const facts = JSON.stringify(organization);
    const hash = `\\x${createHash('sha256').update(facts).digest('hex')}`;
    organizations.set(hash, facts);
    return { ...entry, organization_facts: hash };
  });
  const each = [...organizations].map(([hash, facts]) => `{"hash":${JSON.stringify(hash)},"facts":${facts}}`);
  return { observations: JSON.stringify(observations), organizations: `[${each.join(',')}]` };
}
