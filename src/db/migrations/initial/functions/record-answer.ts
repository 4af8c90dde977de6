import { filledNote, outcomesWithoutContact, type Outcome } from '../../../../domain/runs/outcome.ts';
import { oneOf } from '../../../one-of.ts';
import { keptPlans } from '../kept-plans.ts';

const mismatch = 'identity_mismatch' satisfies Outcome;

/**
 * Functions that record an answer. PL/pgSQL keeps the plans of its statements for a session: as statements of their own
 * these steps spent more time on parsing, planning and round trips than on their work.
 */
export const recordFunctions = [
  `create function enrichment.decisions_of_call(of_attempt text) returns jsonb language plpgsql
    ${keptPlans}
    as $$
    begin
      return (
        select coalesce(jsonb_agg(
          jsonb_build_object('personKey', newest.person_key, 'verdict', newest.verdict,
            'recordHash', newest.record_hash, 'rowNumber', p.row_number)
          order by p.row_number, newest.person_key), '[]')
        from enrichment.attempt_people p
        cross join lateral (
          select contact_id from enrichment.run_rows where run_id = p.run_id and row_number = p.row_number offset 0
        ) r
        cross join lateral (select * from enrichment.runs where run_id = p.run_id offset 0) runs
        cross join lateral (
          select distinct on (d.person_key) d.person_key, d.verdict, d.record_hash
          from enrichment.contact_decisions d
          where d.source = runs.source
            and d.contact_id = r.contact_id
            and d.service = runs.options ->> 'service'
          order by d.person_key, d.decision_id desc
        ) newest
        where p.attempt_id = of_attempt and newest.verdict <> 'withdrawn'
      );
    end
  $$`,

  // Locks the suppression list, before any other lock. Returns whether the list has entries, the rows of a call that
  // were erased in the meantime, and decisions about the contacts of the call (enrich review).
  `create function enrichment.lock_call(of_attempt text, out has_entries boolean, out erased integer[],
      out decisions jsonb)
    language plpgsql
    ${keptPlans}
    as $$
    begin
      has_entries := enrichment.lock_suppressions();
      erased := array(
        select p.row_number
        from enrichment.attempt_people p
        cross join lateral (
          select outcome from enrichment.run_rows where run_id = p.run_id and row_number = p.row_number offset 0
        ) r
        where p.attempt_id = of_attempt and r.outcome = 'suppressed'
      );
      decisions := '[]';
      if exists (select from enrichment.contact_decisions) then
        decisions := enrichment.decisions_of_call(of_attempt);
      end if;
    end
  $$`,

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

  // Writes the outcomes of rows and releases their claims. If two calls asked for the same person, because the answer
  // to the first seemed lost, `enriched` replaces any other outcome. The row of a person who was erased or suppressed
  // while the call was in flight stays suppressed.
  `create function enrichment.write_outcomes(of_attempt text, of_run text, answered jsonb)
    returns void language plpgsql as $$
    declare
      answer record;
      discarded text := '; the answer was discarded' || case
        when exists (select from enrichment.attempts where attempt_id = of_attempt and status = 'settled')
        then ' and the call settled'
        else ''
      end;
    begin
      update enrichment.attempt_people p
      set outcome = a.outcome, person_id = a.person_id, evidence = a.evidence
      from jsonb_to_recordset(answered) as a (row_number integer, outcome text, person_id text, evidence text)
      where p.attempt_id = of_attempt and p.row_number = a.row_number;

      -- A row at a time: in one statement, by a plan from an empty warehouse, PostgreSQL read all rows of the run.
      for answer in select * from jsonb_to_recordset(answered) as a (row_number integer, outcome text, reason text)
      loop
        update enrichment.run_rows r
        set outcome = case when r.outcome = 'suppressed' then r.outcome else answer.outcome end,
          reason = case
            when r.outcome = 'suppressed' then r.reason || discarded
            when r.filled and answer.outcome <> 'enriched' then concat_ws('; ', answer.reason, '${filledNote}')
            else answer.reason
          end,
          filled = r.filled and r.outcome is distinct from 'suppressed' and answer.outcome <> 'enriched'
        where r.run_id = of_run
          and r.row_number = answer.row_number
          and (
            r.outcome is null
            -- The database had lost the call when its run ended.
            or r.outcome in ('unknown', 'cancelled', 'over_budget')
            or (r.outcome = 'suppressed' and r.reason not like '%; the answer was discarded%')
            or (answer.outcome = 'enriched' and r.outcome in (${oneOf(outcomesWithoutContact)}))
          );
        delete from enrichment.claims where run_id = of_run and row_number = answer.row_number;
      end loop;
    end
  $$`,

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

  // Records an answer, in the order in which every transaction locks: rows, claims, contacts and people, lookups,
  // budgets. The body is null if it contains a suppressed person; `released` is null if the credits do not change. An
  // awaiting attempt keeps reserved what its call can still cost.
  `create function enrichment.write_answer(of_attempt text, of_service text, body_gzip bytea,
      answered jsonb, quarantined jsonb, observations jsonb, organizations jsonb, matches jsonb, learned jsonb,
      field_groups text[], released numeric, consumed numeric)
    returns void language plpgsql
    ${keptPlans}
    as $$
    declare
      attempt enrichment.attempts;
    begin
      select * into strict attempt from enrichment.attempts where attempt_id = of_attempt;
      insert into enrichment.raw_answers (attempt_id, body_gzip)
      select of_attempt, write_answer.body_gzip
      where write_answer.body_gzip is not null;
      insert into enrichment.quarantined_people (attempt_id, match_index, reason)
      select of_attempt, q.match_index, q.reason
      from jsonb_to_recordset(quarantined) as q (match_index integer, reason text)
      on conflict do nothing;
      perform enrichment.write_outcomes(of_attempt, attempt.run_id, answered);
      if observations <> '[]' or matches <> '[]' then
        perform enrichment.append_to_log(of_service, observations, organizations, matches);
      end if;
      perform enrichment.record_lookup(
        of_service, attempt.run_id, attempt.admitted_at, answered, learned, field_groups);
      if released is not null then
        perform enrichment.settle_credits(attempt.budget_ids, released, consumed);
        update enrichment.attempts
        set credits_reserved = credits_reserved - released
        where attempt_id = of_attempt and status = 'awaiting';
      end if;
    end
  $$`,
];
