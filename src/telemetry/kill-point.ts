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

export function killPoint(point: KillPoint): void {
  if (wantedPoint !== point) return;
  passed += 1;
  if (passed >= Number(wantedCount ?? 1)) process.kill(process.pid, 'SIGKILL');
}
