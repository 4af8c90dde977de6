import { personColumns } from '../../../domain/warehouse/person-columns.ts';
import { commentsOfPeople } from './column-comments/of-people.ts';
import { commentsOfQuestions } from './column-comments/of-questions.ts';
import { commentsOfRuns } from './column-comments/of-runs.ts';

/** Comments of columns whose meaning depends on their table. */
const columnComments: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...commentsOfRuns,
  ...commentsOfPeople,
  ...commentsOfQuestions,
};

/** Comments of columns that have the same meaning in every table. */
const common: Readonly<Record<string, string>> = {
  ...Object.fromEntries(personColumns.map(({ name, comment }) => [name, comment])),
  run_id: 'Run of `runs`',
  attempt_id: 'Call of `attempts`',
  delivery_id: 'Delivery of `webhook_deliveries`; null: the answer of the call',
  row_number: 'Record of the file, from 1, header excluded',
  source: 'CRM or --source that the contact belongs to',
  contact_id: 'Record id of the CRM, or a stable key of the identity',
  service: 'Service that was asked',
  person_key: 'Key of the person in the log; the id of the service, or the row of a person without one',
  observation_id: 'Entry of `observations` with this value',
  organization_key: 'Key of the company: its id, otherwise its domain, otherwise its name',
  outcome: 'Result of the row; docs/outcomes.md',
  reason: 'Why, as text',
  evidence: 'What the decision is based on',
  status: 'State; docs/warehouse.md',
  asked: 'Whether a call asked for this contact',
  asked_at: 'When the service was asked',
  recorded_at: 'When the entry was written',
  enriched_at: 'When the service was asked for the newest answer',
  field_group: 'Group of fields, named after its first column',
  value: 'Columns of the group and their values',
  position: 'Index in the list of the service, from 0',
  identity_keys: 'Keys that identify this person alone',
  match_id: 'Decision of `contact_matches`',
  kind: 'Kind of the entry',
  started_at: 'Start',
  budget_id: 'Budget, such as run:…, day:2026-11-21 or month:2026-11 (UTC)',
  credits_limit: 'Limit in credits; null: none',
  scope: 'Calls that are counted together',
};

const tables: Readonly<Record<string, string>> = {
  runs: 'One enrichment of one file',
  run_rows:
    'One record of the file of a run, with its outcome; `row_results` has the reason for the contact as it is now',
  run_people: 'Rows of a run that calls ask for, in order',
  attempts: 'One bulk call with its reserved and settled credits',
  attempt_people: 'One person of a call, with the outcome',
  quarantined_people: 'People of an answer who were assigned to no row',
  webhook_deliveries: 'One webhook delivery or poll, with its original body',
  budgets: 'Limit, reserved and settled credits of a run or a period',
  settlements: 'Credits that a transaction settles when it commits; empty outside of transactions',
  default_budgets: 'Limits of periods that were set by command',
  worker_budgets: 'Limits of periods in the settings of the worker that started last',
  budget_changes: 'One change of a limit',
  budget_alarms: 'One threshold of a limit that was crossed',
  credit_statements: 'Credit usage as the service states it, before and after runs',
  rate_scopes: 'Endpoints whose calls are counted together, and whether their calls wait',
  rate_calls: 'Occupied slots of rate windows',
  rate_reports: 'Rate windows as the service last reported them',
  enriched_contacts: 'What is known about each CRM contact now',
  person_emails: 'All addresses of each person',
  person_phones: 'All phones of each person, with their deliveries',
  employment_history: 'All jobs of each person',
  suppression_entries: 'People and domains that are never asked for, as hashes',
  erasures: 'One erasure: when, by whom and how much, without the person',
  job_changes_of_last_run: 'People whose move to another employer the newest finished run detected',
  contact_phones:
    'Phones of each contact: when asked for, when received, and the run, call and delivery of each',
  run_costs:
    'Cost of each run, and the number of people, addresses and phones that its calls found for contacts',
  run_outcomes: 'Number of rows of each run, by outcome',
  run_credits: 'Credits of each run: what is settled, by what it paid for, and what is held',
  run_waste: 'Credits of each run without a result, by reason',
  run_calls: 'Calls of each run, by the status of their attempt',
  run_late_results: 'Late results of each run: what arrived, how, when, and what is awaited',
  calls_without_data: 'Calls that were or may have been billed, and enriched no row',
  row_results: 'Rows of runs with their outcome, and why the contact of a row has lost its person',
  changes_of_last_day:
    'Contacts that changed within 24 hours: the last operation, and all groups of fields that changed',
  value_changes_of_last_day: 'Values of contacts that changed within 24 hours, with the value before',
  coverage_by_segment:
    'How many contacts of the exports have a person, address, phone or title: all, by country, industry, seniority',
  oldest_values: 'Current values of contacts, the oldest first',
  duplicate_contacts: 'People with more than one CRM contact',
  people: 'What is known about each person now',
  organization_values: 'Columns of organizations that are no lists; read organizations',
  organizations: 'What is known about each company now',
  contacts: 'Which person each CRM contact is now',
  changes: 'Changed and deleted contacts, in order',
  changes_pruned: 'The newest cursor whose change retention has dropped',
  contact_decisions:
    'Decisions of people that a contact is, or is not, a known person; of a contact and a person the newest counts',
  field_provenance: 'The call, delivery and run of each current value of a contact, by group of fields',
  contact_history:
    'Values of each group of fields of a contact as each answer said them; the value without an end is current',
  job_changes:
    'People who moved to another employer, with the second sign that shows it; one row for each move',
  organization_facts: 'Facts about companies in answers, stored once for all people with the same facts',
  observation_log: 'Observations, with the hash of the employer in place of what is said about the employer',
  observations: 'Facts about one person in one answer, delivery or poll',
  contact_records: 'Cells of a CRM contact that identify the person, as in an export',
  contact_matches: 'Which person a contact is or was, and since when',
  person_history: 'Earlier values of people, by group of fields; `people` has the current ones',
  prune_candidates:
    'Observations that retention compares, once they are old, with the current values of their people and companies',
};

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const rows = [
  ...Object.entries(columnComments).flatMap(([table, columns]) =>
    Object.entries(columns).map(
      ([column, text]) => `(1, ${literal(table)}, ${literal(column)}, ${literal(text)})`,
    ),
  ),
  ...Object.entries(common).map(([column, text]) => `(2, null, ${literal(column)}, ${literal(text)})`),
];

/** Comments that psql, dbt and BI tools show. Does not replace comments of columns that a table's own file sets. */
export const comments = [
  `do $comments$
    declare each record;
    begin
      for each in
        select distinct on (c.oid, a.attnum) c.relname as table_name, a.attname as column_name, t.text
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
        join (values ${rows.join(',\n          ')}) as t (precedence, table_name, column_name, text)
          on t.column_name = a.attname::text and coalesce(t.table_name, c.relname::text) = c.relname::text
        where c.relnamespace = 'enrichment'::regnamespace
          and c.relkind in ('r', 'v')
          and col_description(c.oid, a.attnum) is null
        order by c.oid, a.attnum, t.precedence
      loop
        execute format('comment on column enrichment.%I.%I is %L', each.table_name, each.column_name, each.text);
      end loop;
      for each in
        select c.relname, case c.relkind when 'v' then 'view' else 'table' end as kind, t.text
        from pg_class c
        join (values ${Object.entries(tables)
          .map(([table, text]) => `(${literal(table)}, ${literal(text)})`)
          .join(',\n          ')}) as t (name, text) on t.name = c.relname
        where c.relnamespace = 'enrichment'::regnamespace
      loop
        execute format('comment on %s enrichment.%I is %L', each.kind, each.relname, each.text);
      end loop;
    end
  $comments$`,
];
