-- Sets the comments of columns that have the same meaning in every table. A comment in the file of a table replaces
-- them.
do $$
declare
  each record;
begin
  for each in
    select c.relname as table_name, a.attname as column_name, t.text
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    join (values
      ('first_name', 'First name'),
      ('last_name', 'Last name'),
      ('email', 'Work e-mail; placeholders are left out'),
      ('email_status', 'Status of the e-mail as the service states it, such as verified'),
      ('phone', 'Best number of the person; docs/explanation/late-results.md'),
      ('title', 'Job title'),
      ('headline', 'Headline of the profile'),
      ('seniority', 'Level of the job'),
      ('departments', 'Departments of the job'),
      ('city', 'City'),
      ('state', 'State or region'),
      ('country', 'Country'),
      ('organization_name', 'Name of the employer'),
      ('organization_domain', 'Domain of the employer'),
      ('organization_industry', 'Industry of the employer'),
      ('organization_employees', 'Number of employees of the employer'),
      ('organization_id', 'Id of the company at the service'),
      ('linkedin_url', 'Profile as the service states it, without tracking parameters'),
      ('profile_url', 'Profile in the normalised form that identifies the person'),
      ('person_id', 'Id of the person at the service'),
      ('name', 'Full name'),
      ('subdepartments', 'Parts of the departments'),
      ('functions', 'Functions of the job'),
      ('photo_url', 'Picture of the profile'),
      ('microblog_url', 'Profile at the microblog'),
      ('codehost_url', 'Profile at the code host'),
      ('socialnet_url', 'Profile at the social network'),
      ('run_id', 'Run of `runs`'),
      ('attempt_id', 'Call of `attempts`'),
      ('delivery_id', 'Delivery of `webhook_deliveries`; null: the answer of the call'),
      ('row_number', 'Record of the file, from 1, header excluded'),
      ('source', 'CRM or --source that the contact belongs to'),
      ('contact_id', 'Record id of the CRM, or a stable key of the identity'),
      ('service', 'Service of the entry'),
      ('person_key', 'Key of the person: the id of the service, or the row of a person without an id'),
      ('observation_id', 'Entry of `observations` with this value'),
      ('organization_key', 'Key of the company: its id, otherwise its domain, otherwise its name'),
      ('outcome', 'Result of the row; docs/reference/outcomes.md'),
      ('reason', 'Why, as text'),
      ('evidence', 'What the decision is based on'),
      ('status', 'State; docs/reference/tables-calls.md'),
      ('asked', 'Whether a call was made for this contact'),
      ('asked_at', 'When the call was admitted'),
      ('recorded_at', 'When the entry was written'),
      ('enriched_at', 'When the call of the newest answer was admitted'),
      ('field_group', 'Group of fields, named after its first column'),
      ('value', 'Columns of the group and their values'),
      ('position', 'Index in the list of the service, from 0'),
      ('identity_keys', 'Keys that identify this person alone'),
      ('match_id', 'Decision of `contact_matches`'),
      ('kind', 'Kind of the entry'),
      ('started_at', 'Start'),
      ('budget_id', 'Budget, such as run:…, day:2026-11-21 or month:2026-11 (UTC)'),
      ('credits_limit', 'Limit in credits; null: none'),
      ('scope', 'Calls that are counted together'),
      ('file_name', 'Name of the export'),
      ('finished_at', 'When the run ended'),
      ('filled', 'Whether the row gave its contact the data of a known person, without a call'),
      ('people', 'People in the call'),
      ('credits_reserved', 'Reserved worst case'),
      ('admitted_at', 'When the call was admitted'),
      ('period', 'Name of the period, such as day'),
      ('changed_at', 'When'),
      ('organization_facts', 'Hash of the employer in `organization_facts`'),
      ('match_keys', 'Keys that find rows that could be the person'),
      ('facts', 'Values by group of fields, under the names of the interface document'),
      ('valid_from', 'When the value took effect in the warehouse'),
      ('number', 'Number in E.164; where it cannot be parsed, as the service wrote it'),
      ('e164', 'Number in E.164; null where it cannot be parsed'),
      ('raw_number', 'Number as the service wrote it'),
      ('type', 'mobile, work or another kind'),
      ('dnc_status', 'Entry on a do-not-call list; null: no known entry'),
      ('confidence', 'How sure the service is'),
      ('origin', 'reveal or waterfall'),
      ('observed_at', 'When the call of the value was admitted'),
      ('detected_at', 'When the answer that shows the move was recorded'),
      ('from_title', 'Title before'),
      ('from_organization', 'Employer before'),
      ('from_domain', 'Domain of the employer before'),
      ('to_title', 'Title afterwards'),
      ('to_organization', 'Employer afterwards'),
      ('to_domain', 'Domain of the employer afterwards')
    ) as t (column_name, text) on t.column_name = a.attname
    where c.relnamespace = 'enrichment'::regnamespace
      and c.relkind in ('r', 'v')
      and col_description(c.oid, a.attnum) is null
  loop
    execute format('comment on column enrichment.%I.%I is %L', each.table_name, each.column_name, each.text);
  end loop;
end
$$;
