import { hadOnlyStrangers, resetToReceived } from '../../../reopened-deliveries.ts';
import { keptPlans } from '../kept-plans.ts';

/**
 * Deliveries return to the inbox when a decision about a contact shows that two ids are one person's: a delivery can
 * name a person by a new id before any answer has the id.
 *
 * Example: the answer of a call has person P1. A delivery of the call names P9, whom no answer has, so the delivery is
 * orphaned. Later an answer names P9 with the address of P1. The contact's keys are now P1 and P9, the delivery returns
 * to the inbox, and P1's contact gets the results.
 *
 * This is a trigger, because answers, runs without calls, decisions of people, undos and reverts all write keys. It
 * costs something only for contacts with several keys. The writer of the contact has locked the person under each key,
 * and so does a transaction that applies such a delivery. So either the delivery was applied before, and this statement
 * finds it, or it is applied afterwards, and knows the ids.
 */
export const reopenLinkedDeliveries = [
  `create function enrichment.reopen_linked_deliveries() returns trigger language plpgsql
    ${keptPlans}
    as $$
    begin
      with observed as materialized (
        select o.*
        from unnest(new.person_keys) as k (person_key)
        cross join lateral (
          select person_id, attempt_id, delivery_id, origin_observation_id from enrichment.observations
          where service = new.service and person_key = k.person_key
          offset 0
        ) o
      ), calls as materialized (
        select attempt_id from observed
        union
        -- Retention can have removed the observation of the call.
        select p.attempt_id from observed join enrichment.attempt_people p on p.person_id = observed.person_id
      ), to_reopen as (
        select d.delivery_id
        from calls
        join enrichment.attempts a using (attempt_id)
        cross join lateral (
          select * from enrichment.webhook_deliveries where attempt_id = calls.attempt_id offset 0
        ) d
        where ${hadOnlyStrangers}
          -- It has given results to people of the call, and it names the person by an id that the answer does not have.
          or d.status = 'applied'
            and exists (
              select from observed
              where observed.person_id = any(d.person_ids) and observed.person_id <> all(a.found_ids))
            -- A body can name the person by P1 and by P9, and have given the results of P1 only: it names the person
            -- more often than it has given the person results.
            and (select count(*) from unnest(d.person_ids) as id where id in (select person_id from observed))
              > (select count(*) from observed
                where observed.delivery_id = d.delivery_id
                  and observed.attempt_id = d.attempt_id
                  and observed.origin_observation_id is null)
      )
      update enrichment.webhook_deliveries
      set ${resetToReceived}
      where delivery_id = any(array(select delivery_id from to_reopen)) and body is not null;
      return null;
    end
  $$`,
  `create trigger contact_has_person_with_keys
    after insert or update of person_keys on enrichment.contacts
    for each row when (new.person_keys is not null)
    execute function enrichment.reopen_linked_deliveries()`,
];
