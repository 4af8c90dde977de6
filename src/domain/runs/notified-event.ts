/** Events of notifications that are sent by default: a run ended or paused, or a budget crossed a threshold. */
export const defaultNotifiedEvents = ['paused', 'failed', 'finished', 'budget'] as const;

/** All events. A night can have hundreds of job changes, so only NOTIFY_ON turns them on. */
export const notifiedEvents = [...defaultNotifiedEvents, 'job_change'] as const;

export type NotifiedEvent = (typeof notifiedEvents)[number];
