import { peoplePerCall, peoplePerPage } from '../../../../contract/batch-sizes.ts';
import { keptPlans } from '../kept-plans.ts';

/**
 * A budget that cannot pay for everybody pays for people in the order of the run. Temporal hands the batches of a page
 * out in any order: without this, the credits went to the batch that asked first.
 */
export const orderOfCredits = [
  // The batches, of those that ask, that must wait for people before them on their page. Empty if the budgets can pay
  // for the whole page, or for no person. Locks the budgets in the order of reserve_credits.
  `create function enrichment.batches_out_of_turn(of_run text, asking integer[], called_rows integer[],
      per_person numeric, budgets text[], own_limits jsonb)
    returns integer[] language plpgsql ${keptPlans} as $$
    declare
      last_batch integer := (select max(batch) from unnest(asking) as batch);
      page_start integer := (last_batch - 1) * ${peoplePerCall} / ${peoplePerPage} * ${peoplePerPage};
      available numeric;
      first_waiting integer;
    begin
      select min(enrichment.budget_limit(locked, own_limits) - locked.reserved - locked.settled) into available
      from (
        select b.* from enrichment.budgets b where b.budget_id = any(budgets) order by b.budget_id for update
      ) locked;
      if available is null or available < per_person
        or available >= per_person * (last_batch * ${peoplePerCall} - page_start) then
        return '{}';
      end if;
      select min(p.position) into first_waiting
      from enrichment.run_people p
      cross join lateral (
        select outcome from enrichment.run_rows where run_id = of_run and row_number = p.row_number offset 0
      ) r
      where p.run_id = of_run and p.position >= page_start and p.position < (last_batch - 1) * ${peoplePerCall}
        and r.outcome is null
        and p.row_number <> all (called_rows)
        and not exists (
          select from enrichment.attempt_people c
          join enrichment.attempts a on a.attempt_id = c.attempt_id
          where c.run_id = of_run and c.row_number = p.row_number and a.status = 'admitted'
        );
      return array(
        select batch from unnest(asking) as batch where (batch - 1) * ${peoplePerCall} > first_waiting
      );
    end
  $$`,
];
