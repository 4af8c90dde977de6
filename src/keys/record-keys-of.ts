import { sql, type RawBuilder } from 'kysely';

/**
 * Query of the keys of a person: the given one, and those of records that the service has merged with it, if a contact
 * has the person.
 *
 * @param personKey expression
 */
export function recordKeysOf(
  service: RawBuilder<string>,
  personKey: RawBuilder<string>,
): RawBuilder<unknown> {
  return sql`
    select ${personKey} as person_key
    union
    select unnest(c.person_keys)
    from (select service, person_keys from contacts where person_keys @> array[${personKey}] offset 0) c
    where c.service = ${service}`;
}
