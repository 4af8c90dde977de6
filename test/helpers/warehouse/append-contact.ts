import type { Person } from '../../../src/domain/identity/person.ts';
import type { Identity } from '../../../src/domain/identity/identity.ts';
import { ownerKey } from '../../../src/domain/identity/match-keys.ts';
import { personKey, factsOfAnswer, factsOfLateResult } from '../../../src/people/observation.ts';
import type { Warehouse } from '../../../src/db/database.ts';
import { writeFacts } from './write-facts.ts';

export interface AppendedContact {
  readonly source?: string;
  readonly service?: string;
  readonly contactId: string;
  readonly runId: string;
  readonly attemptId?: string;
  readonly rowNumber?: number;
  readonly askedAt?: string;
  readonly person: Person;
  /** Numbers that a delivery brought. */
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
  // A person without an id is found by the own contact only.
  const said = person.id ? answered : { ...answered, match_keys: [ownerKey(source, contactId)] };
  const key = personKey(said.person_id, { runId, rowNumber, attemptId });
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
