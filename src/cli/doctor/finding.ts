/** What the doctor says of one part. */
export interface Finding {
  readonly part: string;
  readonly state: 'ok' | 'attention' | 'broken';
  /** What would be used, and how it is. */
  readonly what: string;
  /** What to do; only where something is to be done. */
  readonly next?: string;
}

export function ok(part: string, what: string): Finding {
  return { part, state: 'ok', what };
}

export function attention(part: string, what: string, next: string): Finding {
  return { part, state: 'attention', what, next };
}

export function broken(part: string, what: string, next: string): Finding {
  return { part, state: 'broken', what, next };
}
