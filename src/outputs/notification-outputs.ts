import { z } from 'zod';
import { runFields } from '../contract/run-facts.ts';
import { count, decimal, timeText } from '../contract/schema-fields.ts';
import { notifiedEvents, type NotifiedEvent } from '../domain/runs/notified-event.ts';

const budgetEvent = 'budget';
const runEvents = notifiedEvents.filter(
  (event): event is Exclude<NotifiedEvent, typeof budgetEvent> => event !== budgetEvent,
);

const occurrence = {
  event_id: z.string().describe('Id of the event, the same for each try: ignore events that you have seen.'),
  occurred_at: timeText.describe('When the event happened.'),
};

const runNotification = z
  .strictObject({
    event: z.enum(runEvents).describe('What happened to the run.'),
    ...occurrence,
    figures_at: timeText.describe(
      'When rows, outcomes, calls and credits were read: when the notification was sent.',
    ),
    ...runFields,
  })
  .describe('A run ended or paused. "status", "reason_type", "reason" and "next" are those of the event.');

const budgetNotification = z
  .strictObject({
    event: z.literal(budgetEvent).describe('A budget crossed a threshold.'),
    ...occurrence,
    budget: z.string().describe('Name of the budget, such as "day:2026-11-21".'),
    percent: count.describe('The threshold of BUDGET_ALARMS, in percent of the limit.'),
    limit: decimal.describe('Limit in credits.'),
    used: decimal.describe('Settled and reserved credits.'),
  })
  .describe('The credits of a budget crossed a threshold.');

const scheduleNotification = z
  .strictObject({
    event: z.literal('failed').describe('A time of a schedule failed.'),
    ...occurrence,
    schedule: z.string().describe('Name of the schedule.'),
    scheduled_at: timeText.describe('The time of the schedule.'),
    reason: z.string().describe('Why it failed.'),
    next: z.string().describe('What to do.'),
  })
  .describe('A time of a schedule began no run, or left out files, because it failed. It has no "run_id".');

export const notification = z
  .union([runNotification, scheduleNotification, budgetNotification])
  .describe('What NOTIFY_URL and NOTIFY_COMMAND receive.');
