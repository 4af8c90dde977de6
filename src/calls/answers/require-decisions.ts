import { isDeepStrictEqual } from 'node:util';
import { sql, type Transaction } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import type { ContactDecision, RowDecision } from '../../domain/identity/verdicts.ts';
import { decisionsOf } from '../../people/decisions/contact-decisions.ts';
import { unnestContacts } from '../../keys/contact-key.ts';
import type { Withdrawal } from './withdrawals.ts';

/** Somebody decided about a contact (`enrich review`) after the answer was compared with the warehouse. */
export class DecisionsChanged extends Error {
  readonly decisions: readonly RowDecision[];

  constructor(decisions: readonly RowDecision[]) {
    super('decisions about contacts have changed');
    this.decisions = decisions;
  }
}

/**
 * Requires that an answer was compared with the decisions that hold now. The caller holds the lock of the suppression
 * list, for which new decisions wait.
 *
 * @param compared.decisions about the contacts of the call, as the answer was compared with them
 * @param compared.decided the same as the transaction has read them
 * @throws DecisionsChanged
 */
export async function requireDecisions(
  transaction: Transaction<Tables>,
  compared: {
    readonly service: string;
    readonly decisions: readonly RowDecision[];
    readonly decided: readonly RowDecision[];
    readonly withdrawals: readonly Withdrawal[];
  },
): Promise<void> {
  const { service, decisions, decided, withdrawals } = compared;
  if (!isDeepStrictEqual(decided, decisions)) throw new DecisionsChanged(decided);
  if (withdrawals.length === 0) return;
  const contacts = withdrawals.map(({ contact }) => contact);
  const { rows } = await sql<{ decisions: readonly ContactDecision[] | null }>`
    select ${decisionsOf(sql`${service}`, sql`w.source`, sql`w.contact_id`)} as decisions
    from ${unnestContacts(contacts)} with ordinality as w (source, contact_id, place)
    order by w.place
  `.execute(transaction);
  if (rows.some((row, index) => !isDeepStrictEqual(row.decisions, contacts[index]!.decisions)))
    throw new DecisionsChanged(decided);
}
