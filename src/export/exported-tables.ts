import { personColumns } from '../domain/warehouse/person-columns.ts';
import type { Tables } from '../db/schema.ts';

interface ExportedTable {
  readonly relation: keyof Tables;
  /** Columns that the rows are ordered by. */
  readonly order: readonly string[];
  /**
   * The SQL condition that the row `t` belongs to a selected contact.
   *
   * @param selected a query of these columns of the selected contacts
   */
  readonly belongs: (selected: (columns: string) => string) => string;
}

const ofContacts = (selected: (columns: string) => string): string =>
  `(t.source, t.contact_id) in (${selected('c.source, c.contact_id')})`;

const ofPeople = (selected: (columns: string) => string): string =>
  `(t.service, t.person_key) in (${selected('c.service, c.person_key')})`;

/** What `enrich export --table` writes: projections, by the names that a person gives. */
export const exportedTables = {
  contacts: { relation: 'enriched_contacts', order: ['source', 'contact_id'], belongs: ofContacts },
  people: { relation: 'people', order: ['service', 'person_key'], belongs: ofPeople },
  emails: {
    relation: 'person_emails',
    order: ['service', 'person_key', 'position', 'email'],
    belongs: ofPeople,
  },
  phones: { relation: 'person_phones', order: ['service', 'person_key', 'rank'], belongs: ofPeople },
  employment: {
    relation: 'employment_history',
    order: ['service', 'person_key', 'position'],
    belongs: ofPeople,
  },
  organizations: {
    relation: 'organizations',
    order: ['service', 'organization_key'],
    belongs: (selected) => `(t.service, t.organization_key) in (
      select p.service, p.organization_key
      from people p
      where (p.service, p.person_key) in (${selected('c.service, c.person_key')}))`,
  },
  history: {
    relation: 'contact_history',
    order: ['source', 'contact_id', 'field_group', 'valid_from'],
    belongs: ofContacts,
  },
  provenance: {
    relation: 'field_provenance',
    order: ['source', 'contact_id', 'field_group'],
    belongs: ofContacts,
  },
  'job-changes': {
    relation: 'job_changes',
    order: ['service', 'person_key', 'detected_at', 'observation_id'],
    belongs: (selected) => `(t.service, t.person_key) in (${selected('c.service, c.person_key')})`,
  },
} as const satisfies Readonly<Record<string, ExportedTable>>;

export type ExportedTableName = keyof typeof exportedTables;

export const exportedTableNames = Object.keys(exportedTables) as readonly ExportedTableName[];

/** The columns of `contacts` that are written where none are selected, in order. Of other tables, all columns are. */
export const contactColumns: readonly string[] = [
  'source',
  'contact_id',
  ...personColumns.filter(({ inContacts }) => inContacts).map(({ name }) => name),
  'enriched_at',
  'run_id',
];
