import { hadOnlyStrangers, resetToReceived } from '../../../reopened-deliveries.ts';
import { keptPlans } from '../kept-plans.ts';

/**
 * A delivery can name a person by a new id before any answer has the id. When a decision about a contact shows that the
 * ids are one person's, the deliveries of the calls that found the person return to the inbox.
 *
 * A trigger, because answers, runs without calls, decisions of people, undos and reverts all show this, and only
 * contacts with several keys cost anything. The writer of the contact has locked the person under each key, and so does
 * a transaction that applies such a delivery. So the delivery was applied before, and this statement finds it, or it is
 * applied afterwards, and the ids are known then.
 */
export const reopenLinkedDeliveries = [
  `create function enrichment.reopen_linked_deliveries() returns trigger language plpgsql
    ${keptPlans}
    as $$
    begin
      with said as materialized (
        select o.*
        from unnest(new.person_keys) as k (person_key)
        cross join lateral (
          select person_id, attempt_id, delivery_id, origin_observation_id from enrichment.observations
          where service = new.service and person_key = k.person_key
          offset 0
        ) o
      ), calls as materialized (
        select attempt_id from said
        union
        -- Retention can have removed the observation of the call.
        select p.attempt_id from said join enrichment.attempt_people p on p.person_id = said.person_id
      ), withheld as (
        select d.delivery_id
        from calls
        join enrichment.attempts a using (attempt_id)
        cross join lateral (
          select * from enrichment.webhook_deliveries where attempt_id = calls.attempt_id offset 0
        ) d
        where ${hadOnlyStrangers('d')}
          -- It brought results of other people.
          or d.status = 'applied'
            and exists (
              select from said where said.person_id = any(d.person_ids) and said.person_id <> all(a.found_ids))
            -- A body can name the person several times and by several ids, and have brought the results of one id.
            and (select count(*) from unnest(d.person_ids) as id where id in (select person_id from said))
              > (select count(*) from said
                where said.delivery_id = d.delivery_id
                  and said.attempt_id = d.attempt_id
                  and said.origin_observation_id is null)
      )
      update enrichment.webhook_deliveries
      set ${resetToReceived}
      where delivery_id = any(array(select delivery_id from withheld)) and body is not null;
      return null;
    end
  $$`,
  `create trigger contact_has_person_with_keys
    after insert or update of person_keys on enrichment.contacts
    for each row when (new.person_keys is not null)
    execute function enrichment.reopen_linked_deliveries()`,
];
