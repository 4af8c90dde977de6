import { createHash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';

const hidden = 'suppressed-';
const hashLength = 24;

/**
 * Expression that replaces some ids of an array column by `hiddenId`, in a table with the column `attempt_id`.
 */
export function withoutIds(column: string, personIds: readonly string[]): RawBuilder<unknown> {
  return sql`array(
    select case when id = any(${personIds}::text[])
      then ${hidden} || left(encode(sha256(convert_to(attempt_id || E'\n' || id, 'UTF8')), 'hex'), ${hashLength})
      else id end
    from unnest(${sql.ref(column)}) with ordinality as known (id, place) order by place)`;
}

export function isHiddenId(id: string): boolean {
  return id.startsWith(hidden);
}

/**
 * Returns the replacement of a suppressed person's id: a hash by which the late results of this call are still known to
 * be of one person of its answer. Without it, their price and a stranger's could not be told apart.
 */
export function hiddenId(attemptId: string, personId: string): string {
  return hidden + hashOfAttempt(attemptId, personId);
}

/** A hash of something about a person of a call. It differs from call to call. */
export function hashOfAttempt(attemptId: string, value: string): string {
  return createHash('sha256').update(`${attemptId}\n${value}`).digest('hex').slice(0, hashLength);
}
