import { sql, type RawBuilder } from 'kysely';

/**
 * Expression: a key of an observation, to compare with the list. An address becomes its hash, because the address of a
 * former employer says nothing about a listed domain.
 */
export const keyOfObservation = sql<string>`
  case when starts_with(identity_key, 'email:')
    then 'hash:' || encode(sha256(convert_to(substr(identity_key, 7), 'UTF8')), 'hex') else identity_key end
`;

/**
 * The keys of people in all observations: hashes of their addresses, profiles and ids.
 *
 * @param service text, or a column of `people`
 * @param people query `p` of `row_number` and `person_key`
 */
export function keysInLog(
  service: string | RawBuilder<string>,
  people: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select p.row_number, ${keyOfObservation} as identity_key
    from (${people}) p
    cross join lateral (
      select identity_keys from observations where service = ${service} and person_key = p.person_key offset 0
    ) o
    cross join unnest(o.identity_keys) as identity_key
  `;
}

/**
 * The present address and the domain of the present employer of people, to compare them with listed domains. A record
 * under a former id of a person says nothing about the present.
 *
 * @param people query `p` of `row_number`, `service` and `person_key`
 */
export function presentDomains(people: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select p.row_number, identity_key
    from (${people}) p
    cross join lateral (
      select email, organization_domain from people where service = p.service and person_key = p.person_key offset 0
    ) present
    cross join unnest(array['email:' || present.email, 'domain:' || present.organization_domain]) as identity_key
    cross join lateral (
      select count(*) filter (where c.person_key = p.person_key) as contacts, count(*) as contacts_of_any_record
      from (
        select service, person_key from contacts where person_key = p.person_key
        union all
        select service, person_key from contacts where person_keys @> array[p.person_key]
        offset 0
      ) c
      where c.service = p.service
    ) known
    where identity_key is not null and (known.contacts > 0 or known.contacts_of_any_record = 0)
  `;
}
