import type { BatchResult } from '../../../src/contract/activities.ts';
import { ScriptedActivities } from './scripted-activities.ts';
import { Context } from '@temporalio/activity';

/**
 * Creates activities in which the first batch waits until the test calls `letGo`.
 *
 * @param first result of the first batch at its first execution; default: `done`
 */
export function holdFirstBatch(first?: BatchResult): {
  activities: ScriptedActivities;
  letGo: () => void;
  begun: () => boolean;
} {
  const activities = new ScriptedActivities();
  const held = createGate();
  let begun = false;
  activities.answer = async (batch) => {
    begun = true;
    if (batch !== 1) return { kind: 'done' };
    await waitWithHeartbeat(held);
    const result = first ?? { kind: 'done' };
    first = undefined;
    return result;
  };
  return { activities, letGo: held.open, begun: () => begun };
}

/** A gate before which activities wait until a test opens it. */
export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

/** Creates a closed gate. */
export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

/** Waits within an activity, with the heartbeats that Temporal expects. */
export async function waitWithHeartbeat({ opened }: Gate): Promise<void> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), 1_000);
  await opened;
  clearInterval(beat);
}
