/**
 * For tests of what survives a kill: `ENRICH_KILL_AT=answered` or `answered:3` makes this process end itself with
 * SIGKILL when it comes by the named point (for the third time). Costs one comparison where it is not set.
 */
export type KillPoint =
  | 'chunk-staged'
  | 'planned'
  | 'page-opened'
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

/** Ends this process here if the environment asks for it. */
export function killPoint(point: KillPoint): void {
  if (wantedPoint !== point) return;
  passed += 1;
  if (passed >= Number(wantedCount ?? 1)) process.kill(process.pid, 'SIGKILL');
}
