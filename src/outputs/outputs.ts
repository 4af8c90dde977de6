import { z } from 'zod';
import * as credits from './credit-outputs.ts';
import { doctor } from './doctor-output.ts';
import { exportedFile, importManifest } from './export-outputs.ts';
import { failure } from './failure-output.ts';
import type { Printed } from './fields.ts';
import * as inbox from './inbox-outputs.ts';
import { notification } from './notification-outputs.ts';
import * as privacy from './privacy-outputs.ts';
import { report } from './report-output.ts';
import * as reviews from './review-outputs.ts';
import * as runs from './run-outputs.ts';
import * as schedules from './schedule-outputs.ts';
import * as warehouse from './warehouse-outputs.ts';

interface Output {
  readonly schema: z.ZodType;
  /** Commands that print it with `--json`. */
  readonly commands: readonly string[];
}

/** What programs read, by name: `npm run schemas` writes a JSON Schema of each to `schemas/outputs`. */
export const outputs = {
  error: { schema: failure, commands: [] },
  notification: { schema: notification, commands: [] },
  run: {
    schema: runs.run,
    commands: ['run', 'backfill', 'demo', 'resume', 'pause', 'cancel', 'status'],
  },
  'run-list': {
    schema: z.array(runs.run).describe('Runs, the newest first.'),
    commands: ['status'],
  },
  report: { schema: report, commands: ['report'] },
  // Before `match`, whose schema also fits this object.
  'match-request': { schema: warehouse.matchRequest, commands: ['match'] },
  match: { schema: warehouse.match, commands: ['match'] },
  plan: { schema: runs.plan, commands: ['plan', 'run', 'backfill'] },
  mapping: { schema: runs.mapping, commands: ['plan'] },
  undo: { schema: runs.undo, commands: ['undo'] },
  priority: { schema: runs.priority, commands: ['priority'] },
  skip: { schema: runs.skip, commands: ['skip'] },
  schedule: { schema: schedules.schedule, commands: ['schedule show', 'schedule pause', 'schedule resume'] },
  'schedule-list': {
    schema: z.array(schedules.schedule).describe('All schedules.'),
    commands: ['schedule list'],
  },
  'schedule-set': { schema: schedules.scheduleSet, commands: ['schedule set'] },
  'schedule-apply': { schema: schedules.scheduleApply, commands: ['schedule apply'] },
  'schedule-trigger': { schema: schedules.scheduleTrigger, commands: ['schedule trigger'] },
  'schedule-backfill': { schema: schedules.scheduleBackfill, commands: ['schedule backfill'] },
  'schedule-delete': { schema: schedules.scheduleDelete, commands: ['schedule delete'] },
  'budget-list': { schema: credits.budgetList, commands: ['budget show'] },
  'budget-set': { schema: credits.budgetSet, commands: ['budget set'] },
  'budget-history': { schema: credits.budgetHistory, commands: ['budget history'] },
  'attempt-list': { schema: credits.attemptList, commands: ['attempts list'] },
  attempt: { schema: credits.attempt, commands: ['attempts show'] },
  'attempt-decisions': {
    schema: credits.attemptDecisions,
    commands: ['attempts release', 'attempts retry'],
  },
  usage: { schema: credits.usage, commands: ['usage'] },
  reconciliation: { schema: credits.reconciliation, commands: ['usage'] },
  whoami: { schema: credits.whoami, commands: ['whoami'] },
  'delivery-list': { schema: inbox.deliveryList, commands: ['inbox list'] },
  delivery: { schema: inbox.delivery, commands: ['inbox show'] },
  'inbox-replay': { schema: inbox.inboxReplay, commands: ['inbox replay'] },
  'inbox-sweep': { schema: inbox.inboxSweep, commands: ['inbox sweep'] },
  'suppress-add': { schema: privacy.suppressAdd, commands: ['suppress add'] },
  'suppress-import': { schema: privacy.suppressImport, commands: ['suppress import'] },
  'suppress-remove': { schema: privacy.suppressRemove, commands: ['suppress remove'] },
  'suppress-check': { schema: privacy.suppressCheck, commands: ['suppress check'] },
  'suppress-list': { schema: privacy.suppressList, commands: ['suppress list'] },
  erase: { schema: privacy.erase, commands: ['erase'] },
  prune: { schema: privacy.prune, commands: ['prune'] },
  'review-list': { schema: reviews.reviewList, commands: ['review list'] },
  review: { schema: reviews.review, commands: ['review show'] },
  'review-decision': {
    schema: reviews.reviewDecision,
    commands: ['review confirm', 'review reject', 'review withdraw'],
  },
  change: { schema: warehouse.change, commands: ['changes'] },
  export: { schema: exportedFile, commands: ['export'] },
  'import-manifest': { schema: importManifest, commands: ['export'] },
  evaluation: { schema: warehouse.evaluation, commands: ['evaluate'] },
  rebuild: { schema: warehouse.rebuild, commands: ['rebuild'] },
  migrate: { schema: warehouse.migrate, commands: ['migrate'] },
  sql: { schema: warehouse.sql, commands: ['sql'] },
  'sql-rows': { schema: warehouse.sqlRows, commands: ['sql'] },
  'import-history': { schema: warehouse.importHistory, commands: ['import-history'] },
  doctor: { schema: doctor, commands: ['doctor'] },
} as const satisfies Readonly<Record<string, Output>>;

export type OutputName = keyof typeof outputs;

/** The value that an output prints. */
export type OutputOf<Name extends OutputName> = Name extends OutputName
  ? Printed<(typeof outputs)[Name]['schema']>
  : never;
