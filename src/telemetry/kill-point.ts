/** Points at which tests kill a process: `ENRICH_KILL_AT=answered:3` kills it there the third time. */
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

/** Reads the heartbeat of runs from a variable that only tests set, because tests of recovery need a short one. */
export function testHeartbeat(): { readonly heartbeatSeconds?: number } {
  const seconds = process.env['ENRICH_HEARTBEAT_SECONDS'];
  return seconds === undefined ? {} : { heartbeatSeconds: Number(seconds) };
}

/** Shortens, for tests, how long Temporal keeps the next workflow task for a killed worker (default: 10 s). */
export function testStickyTimeout(): { readonly stickyQueueScheduleToStartTimeout?: string } {
  const { heartbeatSeconds } = testHeartbeat();
  return heartbeatSeconds === undefined
    ? {}
    : { stickyQueueScheduleToStartTimeout: `${heartbeatSeconds} seconds` };
}

/** For tests: kills this process here if `ENRICH_KILL_AT` names this point. */
export function killPoint(point: KillPoint): void {
  if (wantedPoint !== point) return;
  passed += 1;
  if (passed >= Number(wantedCount ?? 1)) process.kill(process.pid, 'SIGKILL');
}
