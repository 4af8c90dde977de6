/** The history of lookups; `schema.ts` explains the columns. */
export const peopleTables = [
  // The service is part of the key: what one service answered says nothing of what another one knows.
  `create table enrichment.lookup_history (
    identity_key text not null,
    field_group text not null,
    outcome text not null,
    asked_at timestamptz not null,
    run_id text not null,
    service text not null default '',
    primary key (identity_key, field_group)
  )`,
];
