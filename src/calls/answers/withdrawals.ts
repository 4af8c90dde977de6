import type { Kysely } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import { weigh } from '../../domain/identity/identity-evidence.ts';
import { isPossible } from '../../domain/identity/decide-person.ts';
import type { ContactState } from '../../people/contacts/contact-states.ts';
import { readDoubtfulContacts } from '../../people/contacts/contacts-by-match-key.ts';
import { anotherFits, findChanges } from '../../people/contacts/find-changes.ts';
import { identifyingKeys } from '../../people/known/known-people.ts';
import type { AnsweredCall } from './known-elsewhere.ts';

export interface Withdrawal {
  readonly contact: ContactState;
  readonly reason: string;
}

/**
 * Finds contacts that have a person by an earlier decision, and that could be another person of this answer as well.
 * They lose the person when the answer is recorded. The end of the run decides whom they get.
 *
 * @param accepted ids of contacts that the answer itself decides about
 */
export async function findWithdrawals(
  database: Kysely<Tables>,
  { source, service, arrived }: AnsweredCall,
  accepted: ReadonlySet<string>,
): Promise<Withdrawal[]> {
  const contacts = await readDoubtfulContacts(
    database,
    service,
    {
      all: [...new Set(arrived.flatMap(({ matchKeys }) => matchKeys))],
      identifying: [...new Set(arrived.flatMap(identifyingKeys))],
    },
    (contact) =>
      !(contact.source === source && accepted.has(contact.contactId)) &&
      arrived.some(
        ({ personKey, compared }) =>
          personKey !== contact.personKey && isPossible(weigh(contact.compared, compared)),
      ),
  );
  const changes = await findChanges(database, service, contacts, { arrived });
  return changes.flatMap((change) => {
    if (change.kind === 'withdraw') return [change];
    return change.kind === 'fill' && !change.isSamePerson
      ? [{ contact: change.contact, reason: anotherFits }]
      : [];
  });
}
