import type { OutputOf } from '../../outputs/outputs.ts';

/** The state of one part. */
export type Finding = OutputOf<'doctor'>['findings'][number];

export function ok(part: string, what: string): Finding {
  return { part, state: 'ok', what };
}

export function attention(part: string, what: string, next: string): Finding {
  return { part, state: 'attention', what, next };
}

export function broken(part: string, what: string, next: string): Finding {
  return { part, state: 'broken', what, next };
}
