/** Events of notifications: a run has ended or is paused, or a budget has crossed a threshold. */
export const notifiedEvents = ['paused', 'failed', 'finished', 'budget'] as const;

export type NotifiedEvent = (typeof notifiedEvents)[number];
