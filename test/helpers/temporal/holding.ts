import type { WorkflowHandle } from '@temporalio/client';
import { expect } from 'vitest';
import type { BatchResult } from '../../../src/contract/activities.ts';
import { gate, waitWithHeartbeat } from './gate.ts';
import { ScriptedActivities } from './scripted-activities.ts';

/**
 * Holds the first batch until it is let go.
 *
 * @param first what it comes to then, before it is done
 */
export function holding(first?: BatchResult): {
  activities: ScriptedActivities;
  letGo: () => void;
  begun: () => boolean;
} {
  const activities = new ScriptedActivities();
  const held = gate();
  let begun = false;
  activities.answer = async (batch) => {
    begun = true;
    if (batch !== 1) return { kind: 'done', calls: 1 };
    await waitWithHeartbeat(held);
    const result = first ?? { kind: 'done', calls: 1 };
    first = undefined;
    return result;
  };
  return { activities, letGo: held.open, begun: () => begun };
}

/** @param signal names of signals */
export function untilSignalled(handle: WorkflowHandle, signal: RegExp): Promise<void> {
  return expect
    .poll(async () => JSON.stringify((await handle.fetchHistory()).events))
    .toMatch(new RegExp(`"signalName":"(${signal.source})"`));
}
