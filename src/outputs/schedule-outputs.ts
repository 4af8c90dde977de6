import { z } from 'zod';
import { count, timeText } from './fields.ts';

const name = z.string().describe('Name of the schedule.');

const pastTime = z.strictObject({
  scheduled_at: timeText.describe('The time of the schedule.'),
  workflow_id: z.string().describe('Id of the Temporal workflow that carried it out.'),
  status: z
    .string()
    .describe(
      'Status of the workflow in Temporal; or "paused" where a run waits for a person, "waiting" where no worker ' +
        'can carry the time out, or "gone".',
    ),
  summary: z.string().describe('What was done, or why not.'),
  runs: z.array(z.string()).describe('Ids of the runs.'),
});

const scheduleFields = {
  name,
  paused: z.boolean().describe('Whether the schedule is paused.'),
  note: z.string().nullable().describe('Note in Temporal, such as why the schedule is paused. Null: none.'),
  flags: z
    .record(z.string(), z.string())
    .describe('Flags of "enrich schedule set" by name, without the leading dashes.'),
  next: z.array(timeText).describe('The next times, at most five; none while the schedule is paused.'),
  skipped: count.describe('Times that were skipped because the run before was still in progress.'),
  missed: count.describe('Times that were missed because Temporal was away for longer than --catch-up.'),
  recent: z.array(pastTime).describe('The last times, the oldest first, at most five.'),
  warnings: z.array(z.string()).describe('What will not happen as the flags suggest, a sentence each.'),
};

export const schedule = z.strictObject(scheduleFields).describe('A schedule with its times.');

export const scheduleSet = z
  .strictObject({
    ...scheduleFields,
    created: z.boolean().describe('Whether the schedule is new.'),
    changes: z.array(z.string()).describe('Flags that changed, with the old and the new value.'),
  })
  .describe('A schedule that was created or changed.');

export const scheduleApply = z
  .strictObject({
    applied: z.boolean().describe('Whether anything was changed.'),
    created: z.array(z.string()).describe('Names of schedules that the file adds.'),
    changed: z.array(z.string()).describe('Names of schedules that the file changes.'),
    deleted: z.array(z.string()).describe('Names of schedules of the group that the file does not have.'),
  })
  .describe('The difference between a schedule file and Temporal.');

export const scheduleTrigger = z
  .strictObject({
    name,
    triggered: z.literal(true).describe('A run was asked for.'),
    waits: z.boolean().describe('Whether the run begins only when the run in progress has ended.'),
    paused: z.boolean().describe('Whether the schedule is paused, and stays so.'),
  })
  .describe('A schedule that was started by hand.');

export const scheduleBackfill = z
  .strictObject({ name, times: z.array(timeText).describe('The missed times, in the order of their runs.') })
  .describe('Missed times of a schedule that are carried out one after another.');

export const scheduleDelete = z
  .strictObject({
    name,
    deleted: z.literal(true).describe('The schedule was deleted.'),
    cancelled: z.array(z.string()).describe('Temporal workflows that were in progress and are cancelled.'),
    continuing: z.array(z.string()).describe('Temporal workflows that are in progress and continue.'),
  })
  .describe('A deleted schedule.');
