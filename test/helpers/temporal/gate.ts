import { Context } from '@temporalio/activity';

/** A gate before which activities wait until a test opens it. */
export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

export function gate(): Gate {
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
