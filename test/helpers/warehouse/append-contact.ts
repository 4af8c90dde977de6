import type { Person } from '../../../src/domain/identity/person.ts';
import { appendToLog } from '../../../src/people/log/append-to-log.ts';
import { personKey, factsOfAnswer, factsOfLateResult } from '../../../src/people/log/observation.ts';
import type { Warehouse } from '../../../src/db/database.ts';

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
  const asked_at = contact.askedAt ?? '2026-11-20T08:00:00Z';
  const said = factsOfAnswer(person);
  const person_key = personKey(said.person_id, { runId, rowNumber, attemptId });
  const call = { person_key, asked_at, run_id: runId, attempt_id: attemptId };
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
  await warehouse.database.transaction().execute((transaction) =>
    appendToLog(transaction, service, {
      observations: [
        { ...said, ...call, kind: 'answer', delivery_id: null },
        ...(contact.phones
          ? [
              {
                ...factsOfLateResult(said.person_id, 'phones', delivered),
                ...call,
                kind: 'phones' as const,
                delivery_id: `delivery of ${runId}`,
              },
            ]
          : []),
      ],
      matches: [
        {
          source,
          contact_id: contactId,
          person_key,
          evidence: 'email',
          asked: true,
          run_id: runId,
          attempt_id: attemptId,
          row_number: rowNumber,
          match_keys: null,
          decided_at: asked_at,
        },
      ],
    }),
  );
}
