import type { Timestamp } from './column-types.ts';

export interface RowResultsView {
  run_id: string;
  row_number: number;
  source: string;
  contact_id: string;
  outcome: string | null;
  reason: string | null;
  lost_reason: string | null;
  lost_at: Timestamp | null;
}

export interface QuestionsTables {
  row_results: RowResultsView;
}
