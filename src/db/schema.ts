import type { LateResultsTables } from './schema/late-results.ts';
import type { LedgerTables } from './schema/ledger.ts';
import type { LookupHistoryTables } from './schema/lookup-history.ts';
import type { NotificationsTables } from './schema/notifications.ts';
import type { PeopleHistoryTables } from './schema/people-history.ts';
import type { PeopleLogTables } from './schema/people-log.ts';
import type { PeopleProjectionsTables } from './schema/people-projections.ts';
import type { PrivacyTables } from './schema/privacy.ts';
import type { QuestionsTables } from './schema/questions.ts';
import type { RunsTables } from './schema/runs.ts';

/**
 * The tables and views of the schema `enrichment`. A file of `schema/` describes the tables that the file of the same
 * name in `migrations/initial/tables` creates.
 */
export interface Tables
  extends
    LateResultsTables,
    LedgerTables,
    LookupHistoryTables,
    NotificationsTables,
    PeopleHistoryTables,
    PeopleLogTables,
    PeopleProjectionsTables,
    PrivacyTables,
    QuestionsTables,
    RunsTables {}
