import type { Outcome } from '../../../../domain/runs/outcome.ts';
import { keptPlans } from '../kept-plans.ts';

const mismatch = 'identity_mismatch' satisfies Outcome;

/** Functions that settle the credits of a call and record its lookups. */
export const recordFunctions = [
  // Turns reserved into settled credits in every budget of a call, when the transaction commits.
  `create function enrichment.settle_credits(of_budgets text[], released numeric, consumed numeric)
    returns void language plpgsql as $$
    begin
      insert into enrichment.settlements (budget_ids, released, consumed) values (of_budgets, released, consumed);
    end
  $$`,

  // A transaction sees only its own settlements, because it deletes them before the commit. Locks budgets in ascending
  // order, so that two transactions cannot wait for each other.
  `create function enrichment.apply_settlements() returns trigger language plpgsql
    ${keptPlans}
    as $$
    declare
      credits jsonb;
    begin
      with due as (delete from enrichment.settlements returning *), each as (
        select budget_id, sum(released) as released, sum(consumed) as consumed
        from due cross join unnest(budget_ids) as budget_id
        group by budget_id
      )
      select jsonb_agg(each) into credits from each;
      perform from enrichment.budgets b
      where b.budget_id = any(array(select value ->> 'budget_id' from jsonb_array_elements(credits)))
      order by b.budget_id for update;
      update enrichment.budgets b
      set reserved = b.reserved - s.released, settled = b.settled + s.consumed
      from jsonb_to_recordset(credits) as s (budget_id text, released numeric, consumed numeric)
      where b.budget_id = s.budget_id;
      return null;
    end
  $$`,
  `create constraint trigger settle_at_commit after insert on enrichment.settlements
    deferrable initially deferred for each row execute function enrichment.apply_settlements()`,

  // Records a lookup under every key of a row that counts as asked for, and of its person. `learned` has the keys of
  // people with their rows. A key without a row is of a person in the answer who fits no row, and was paid for as well.
  // Keys are written in order, so that two writers cannot deadlock. An earlier lookup never replaces a later one.
  `create function enrichment.record_lookup(of_service text, of_run text, of_time timestamptz, answered jsonb,
      learned jsonb, field_groups text[])
    returns void language plpgsql as $$
    declare
      number integer := enrichment.number_lookup_run(of_run, of_service);
    begin
      insert into enrichment.lookup_history as m (key_hash, field_group, found, asked_at, lookup_run)
      select distinct on (k.key_hash, g.field_group) k.key_hash, g.field_group,
        case when a.outcome is distinct from '${mismatch}' then coalesce(a.outcome = 'enriched', true) end,
        of_time, number
      from unnest(field_groups) as g (field_group)
      cross join (
        select enrichment.key_hash(key, of_service) as key_hash, r.row_number
        from jsonb_to_recordset(answered) as a (row_number integer, is_lookup boolean)
        cross join lateral (
          select * from enrichment.run_rows where run_id = of_run and row_number = a.row_number offset 0
        ) r
        cross join unnest(r.keys) as key
        where a.is_lookup
        union
        select enrichment.key_hash(l.identity_key, of_service), l.row_number
        from jsonb_to_recordset(learned) as l (identity_key text, row_number integer)
      ) k
      left join jsonb_to_recordset(answered) as a (row_number integer, outcome text) on a.row_number = k.row_number
      order by k.key_hash, g.field_group, a.outcome = 'enriched' desc nulls last
      on conflict (key_hash, field_group) do update
      set found = excluded.found, asked_at = excluded.asked_at, lookup_run = excluded.lookup_run
      where m.asked_at <= excluded.asked_at;
    end
  $$`,
];
