import type { Stack } from '../../dev/stack.ts';
import { Problem } from '../../domain/problem.ts';

/**
 * Replaces the advice of a failed embedded server. No setting names the server, and its address does not say which disk
 * is full.
 */
export function adviseOnEmbedded(
  error: unknown,
  embedded: Pick<Stack['embedded'], 'postgres' | 'temporal'>,
  postgresDirectory: string,
): unknown {
  if (!(error instanceof Problem)) return error;
  const { type, message, exitCode } = error;
  const isFull = type === 'database.disk-full' && embedded.postgres;
  const isAway =
    (type === 'database.unreachable' && embedded.postgres) ||
    (type === 'temporal.unreachable' && embedded.temporal);
  if (!isFull && !isAway) return error;
  const where = isFull ? postgresDirectory : error.where;
  return new Problem(type, message, {
    ...(where !== undefined && { where }),
    next: isFull
      ? error.next
      : 'run the same command again: it starts the embedded server and continues; nothing is lost',
    exitCode,
    cause: error,
  });
}
