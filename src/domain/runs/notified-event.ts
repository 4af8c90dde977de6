/** Events of notifications: a run ended or paused, or a budget crossed a threshold. */
export const notifiedEvents = ['paused', 'failed', 'finished', 'budget'] as const;

export type NotifiedEvent = (typeof notifiedEvents)[number];
