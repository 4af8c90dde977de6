const moves = {
  detected_at: 'When the answer that shows the move was recorded',
  from_title: 'Title before',
  from_organization: 'Employer before',
  from_domain: 'Domain of the employer before',
  to_title: 'Title afterwards',
  to_organization: 'Employer afterwards',
  to_domain: 'Domain of the employer afterwards',
  started_at: 'First day of the new job, where the service gives a date',
  evidence: 'Second sign of the move: start_date or email',
};

/** Columns of the views that answer frequent questions (`tables/questions.ts`). */
export const commentsOfQuestions = {
  job_changes: moves,
  job_changes_of_last_run: { ...moves, contact_ids: 'Contacts that are the person, as source/contact_id' },
  run_costs: {
    file_name: 'Name of the export',
    finished_at: 'When the run ended',
    credits_settled: 'What its calls cost',
    credits_held: 'Credits reserved for calls whose cost is not known yet',
    people: 'People whom its calls found and who are a contact now',
    emails: 'Those for whom its calls found an address',
    verified_emails: 'Those for whom its calls found a verified address',
    phones: 'Those for whom its calls found a phone other than a switchboard',
    credits_per_person: 'Settled credits for each person',
    credits_per_verified_email: 'Settled credits for each verified address',
    credits_per_phone: 'Settled credits for each phone',
  },
  calls_without_data: {
    people: 'People in the call',
    credits_settled: 'What the call cost; null: not known yet',
    credits_answered: 'What its answer stated as the cost',
    credits_reserved: 'Reserved worst case',
    admitted_at: 'When the call was admitted',
  },
  row_results: {
    reason: 'Reason of `run_rows`, and why the contact lost the person that the row gave it',
    filled: 'Whether the row gave its contact the data of a known person, without a call',
    lost_reason: 'Why the contact lost its person; null: it did not',
    lost_at: 'When the contact lost its person',
  },
  changes_of_last_day: {
    operation: 'The last operation: upsert or delete',
    field_groups: 'All groups of fields that changed; empty: the run or row changed',
    changed_at: 'When the contact changed last',
  },
  coverage_by_segment: {
    segment: 'all, country, organization_industry or seniority',
    segment_value: 'Value of the segment; null: all contacts, or contacts without a value',
    contacts: 'Contacts of the segment',
    emails: 'Those with an address',
    verified_emails: 'Those with a verified address',
    phones: 'Those with a phone',
    titles: 'Those with a title',
  },
  oldest_values: { observed_at: 'When the service was asked for the value', age: 'Time since then' },
  duplicate_contacts: {
    contacts: 'Number of contacts',
    contact_ids: 'Contacts as source/contact_id',
  },
};
