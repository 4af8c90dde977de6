/** For tests: `ENRICH_KILL_AT=answered:3` kills this process when it reaches the point for the third time. */
export type KillPoint =
  | 'planned'
  | 'admitted'
  | 'calling'
  | 'answered'
  | 'recorded'
  | 'delivery-arrived'
  | 'delivery-stored'
  | 'delivery-answered'
  | 'delivery-applied';

const [wantedPoint, wantedCount] = (process.env['ENRICH_KILL_AT'] ?? '').split(':');
let passed = 0;

/** For tests of recovery: the heartbeat of the runs that a command starts. Tests run many commands in one process. */
export function testHeartbeat(): { readonly heartbeatSeconds?: number } {
  const seconds = process.env['ENRICH_HEARTBEAT_SECONDS'];
  return seconds === undefined ? {} : { heartbeatSeconds: Number(seconds) };
}

/** For tests: Temporal keeps a workflow's next task for its killed worker for this long, by default ten seconds. */
export function testStickyTimeout(): { readonly stickyQueueScheduleToStartTimeout?: string } {
  const { heartbeatSeconds } = testHeartbeat();
  return heartbeatSeconds === undefined
    ? {}
    : { stickyQueueScheduleToStartTimeout: `${heartbeatSeconds} seconds` };
}

export function killPoint(point: KillPoint): void {
  if (wantedPoint !== point) return;
  passed += 1;
  if (passed >= Number(wantedCount ?? 1)) process.kill(process.pid, 'SIGKILL');
}
