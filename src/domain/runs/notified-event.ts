/** What somebody can be told: how a run ended or that it is paused, and that a budget has crossed a threshold. */
export const notifiedEvents = ['paused', 'failed', 'finished', 'budget'] as const;

export type NotifiedEvent = (typeof notifiedEvents)[number];
