import { z } from 'zod';
import { notifiedEvents, type NotifiedEvent } from '../domain/runs/notified-event.ts';
import { count, decimal, timeText } from './fields.ts';
import { runFields } from './run-outputs.ts';

const budgetEvent = 'budget';
const runEvents = notifiedEvents.filter(
  (event): event is Exclude<NotifiedEvent, typeof budgetEvent> => event !== budgetEvent,
);

const occurrence = {
  event_id: z.string().describe('Id of the event, the same for each try: ignore events that you have seen.'),
  occurred_at: timeText.describe('When the event happened.'),
};

export const runNotification = z
  .strictObject({
    event: z.enum(runEvents).describe('What happened to the run.'),
    ...occurrence,
    figures_at: timeText.describe(
      'When rows, outcomes, calls and credits were read: when the notification was sent.',
    ),
    ...runFields,
  })
  .describe('A run ended or paused. "status", "reason" and "next" are those of the event.');

export const budgetNotification = z
  .strictObject({
    event: z.literal(budgetEvent).describe('A budget crossed a threshold.'),
    ...occurrence,
    budget: z.string().describe('Name of the budget, such as "day:2026-11-21".'),
    percent: count.describe('The threshold of BUDGET_ALARMS, in percent of the limit.'),
    limit: decimal.describe('Limit in credits.'),
    used: decimal.describe('Settled and reserved credits.'),
  })
  .describe('The credits of a budget crossed a threshold.');

export const notification = z
  .discriminatedUnion('event', [runNotification, budgetNotification])
  .describe('What NOTIFY_URL and NOTIFY_COMMAND receive.');
