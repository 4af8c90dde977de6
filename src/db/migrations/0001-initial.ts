import { createHash } from 'node:crypto';
import { sql, type Kysely } from 'kysely';
import { comments } from './initial/comments.ts';
import { admissionFunctions } from './initial/functions/admission.ts';
import { budgetFunctions } from './initial/functions/budgets.ts';
import { orderOfCredits } from './initial/functions/order-of-credits.ts';
import { projectionFunctions } from './initial/functions/projections.ts';
import { rateWindowFunctions } from './initial/functions/rate-windows.ts';
import { recordFunctions } from './initial/functions/record-answer.ts';
import { runStatistics } from './initial/functions/run-statistics.ts';
import { lateResultTables } from './initial/tables/late-results.ts';
import { contactDecisions } from './initial/tables/contact-decisions.ts';
import { ledgerTables } from './initial/tables/ledger.ts';
import { lookupHistoryTables } from './initial/tables/lookup-history.ts';
import { notificationTables } from './initial/tables/notifications.ts';
import { peopleHistory } from './initial/tables/people-history.ts';
import { peopleLog } from './initial/tables/people-log.ts';
import { peopleProjections } from './initial/tables/people-projections.ts';
import { privacyTables } from './initial/tables/privacy.ts';
import { questions } from './initial/tables/questions.ts';
import { runFigures } from './initial/tables/run-figures.ts';
import { runTables } from './initial/tables/runs.ts';

const statements = [
  ...runTables,
  ...ledgerTables,
  ...lateResultTables,
  ...lookupHistoryTables,
  ...peopleLog,
  ...contactDecisions,
  ...peopleProjections,
  ...projectionFunctions,
  ...peopleHistory,
  ...questions,
  ...runFigures,
  ...privacyTables,
  ...rateWindowFunctions,
  ...orderOfCredits,
  ...budgetFunctions,
  ...admissionFunctions,
  ...recordFunctions,
  ...notificationTables,
  ...runStatistics,
];

/**
 * Identifies the tables and functions. Until the first release they are changed in place, and a database keeps those of
 * the commit that made it. With the release this check ends: later migrations only add.
 */
export const fingerprint = createHash('sha256').update(statements.join('\n')).digest('hex').slice(0, 16);

/** The schema of version 0.1.0, a file for each feature. Kysely has made the table of migrations before. */
export async function up(database: Kysely<never>): Promise<void> {
  const keptFingerprint = `comment on table enrichment.kysely_migration is '${fingerprint}'`;
  for (const statement of [...statements, ...comments, keptFingerprint])
    await sql.raw(statement).execute(database);
}
