import { sql, type Kysely } from 'kysely';
import { admissionFunctions } from './initial/admission.ts';
import { rateWindowFunctions } from './initial/rate-windows.ts';
import { comments } from './initial/comments.ts';
import { lateResultTables } from './initial/late-results.ts';
import { ledgerTables } from './initial/ledger.ts';
import { notificationTables } from './initial/notifications.ts';
import { orderOfCredits } from './initial/order-of-credits.ts';
import { peopleTables } from './initial/people.ts';
import { peopleHistory } from './initial/people-history.ts';
import { peopleLog } from './initial/people-log.ts';
import { peopleProjections } from './initial/people-projections.ts';
import { pruneCandidates } from './initial/prune-candidates.ts';
import { privacyTables } from './initial/privacy.ts';
import { projectionFunctions } from './initial/project-people.ts';
import { questions } from './initial/questions.ts';
import { recordFunctions } from './initial/record-answer.ts';
import { runStatistics } from './initial/run-statistics.ts';
import { runTables } from './initial/runs.ts';

/** All tables of version 0.1.0, a file for each feature. Until that release, tables are changed in place. */
export async function up(database: Kysely<never>): Promise<void> {
  const statements = [
    ...runTables,
    ...ledgerTables,
    ...lateResultTables,
    ...peopleTables,
    ...peopleLog,
    ...peopleProjections,
    ...pruneCandidates,
    ...projectionFunctions,
    ...peopleHistory,
    ...questions,
    ...privacyTables,
    ...rateWindowFunctions,
    ...orderOfCredits,
    ...admissionFunctions,
    ...recordFunctions,
    ...notificationTables,
    ...runStatistics,
    ...comments,
  ];
  for (const statement of statements) await sql.raw(statement).execute(database);
}
