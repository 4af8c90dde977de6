import { createHash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import type { ComparedIdentity } from '../../domain/identity/identity-evidence.ts';
import type { Identity } from '../../domain/identity/identity.ts';
import { identityKeys } from '../../domain/identity/identity-keys.ts';
import { comparisonForm } from '../../domain/identity/values/normalise.ts';
import { noVerdicts, type ContactDecision, type Verdicts } from '../../domain/identity/verdicts.ts';

/**
 * SQL expression: the operator's decisions about a contact as a JSON array of `ContactDecision`, one per person; null
 * if there are none.
 */
export function contactDecisionsJson(
  service: RawBuilder<unknown>,
  source: RawBuilder<unknown>,
  contactId: RawBuilder<unknown>,
): RawBuilder<readonly ContactDecision[] | null> {
  return sql`(
    select jsonb_agg(jsonb_build_object(
      'personKey', newest.person_key, 'verdict', newest.verdict, 'recordHash', newest.record_hash
    ) order by newest.person_key)
    from (
      select distinct on (d.person_key) d.person_key, d.verdict, d.record_hash
      from contact_decisions d
      where d.source = ${source} and d.contact_id = ${contactId} and d.service = ${service}
      order by d.person_key, d.decision_id desc
    ) newest
    where newest.verdict <> 'withdrawn')`;
}

/**
 * SQL condition: the operator's newest decision about a contact and a person rejects the match, or withdraws the
 * confirmation that the match is based on.
 *
 * @param match SQL expressions of the match; `evidence` is the reason of the match
 */
export function isOverruled(
  match: Readonly<Record<'source' | 'contactId' | 'personKey' | 'evidence', RawBuilder<unknown>>>,
): RawBuilder<boolean> {
  return sql`exists (
    select from (
      select d.verdict
      from contact_decisions d
      where d.source = ${match.source}
        and d.contact_id = ${match.contactId}
        and d.person_key = ${match.personKey}
      order by d.decision_id desc
      limit 1
    ) newest
    where newest.verdict = 'rejected' or newest.verdict = 'withdrawn' and ${match.evidence} = 'confirmed')`;
}

/** {@link isOverruled} for a row `m` of `contact_matches`. */
export const isOverruledMatch = isOverruled({
  source: sql`m.source`,
  contactId: sql`m.contact_id`,
  personKey: sql`m.person_key`,
  evidence: sql`m.evidence`,
});

/**
 * Returns the operator's decisions that still hold for a contact with these cells. A decision ends when the record
 * gets another name, or gets or loses an identifier, because the record may then be another person. A change of
 * employer keeps it.
 */
export function verdictsThatHold(
  decisions: readonly ContactDecision[] | null,
  { identity }: Pick<ComparedIdentity, 'identity'>,
): Verdicts {
  if (decisions === null || decisions.length === 0) return noVerdicts;
  const hash = identityHashOfRecord(identity);
  return new Map(
    decisions.flatMap(({ personKey, verdict, recordHash: of }) =>
      of === hash ? [[personKey, verdict] as const] : [],
    ),
  );
}

/**
 * Hash of the name and the identifiers of a contact, without the employer. A decision holds only while the hash stays
 * the same, because the contact may be another person otherwise.
 */
export function identityHashOfRecord({ firstName, lastName, name, ...nameless }: Identity): string {
  const { organizationName: _, domain: __, ...identifiers } = nameless;
  const ofName = [firstName, lastName].filter((part) => part !== undefined).join(' ') || (name ?? '');
  return createHash('sha256')
    .update(JSON.stringify([...new Set(identityKeys(identifiers))].toSorted().concat(comparisonForm(ofName))))
    .digest('hex');
}

/** Keys of the people whom the operator confirmed for a contact. */
export function confirmedKeys(verdicts: Verdicts): string[] {
  return [...verdicts].flatMap(([key, verdict]) => (verdict === 'confirmed' ? [key] : []));
}
