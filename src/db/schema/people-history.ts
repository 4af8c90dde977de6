import type { View } from './column-types.ts';

export interface PeopleHistoryTables {
  /** The call and run of each current value of a contact, by group of fields. */
  field_provenance: View;
  /** Current and earlier values of each group of fields of a contact, without undone runs. */
  contact_history: View;
  /** People who moved to another employer, one row for each move. */
  job_changes: View;
}
