import type { Access } from '../account/credentials.ts';
import type { ErrorShape } from '../faults/failures.ts';

/** One operation of the service: source of the server's routes and the usage statistics. */
export interface Operation {
  readonly method: 'GET' | 'POST';
  /** Relative to the base address. */
  readonly path: string;
  readonly access: Access;
  /** Its name in usage statistics. An operation with a name is logged and counted by rate windows. */
  readonly usageName?: readonly [string, string];
  readonly errors: ErrorShape;
}

/** The operations of the sandbox, with the paths of public descriptions of such services. */
export const operations = {
  match: {
    method: 'POST',
    path: '/people/match',
    access: 'scope',
    usageName: ['api/v1/people', 'match'],
    errors: 'older',
  },
  bulkMatch: {
    method: 'POST',
    path: '/people/bulk_match',
    access: 'scope',
    usageName: ['api/v1/people', 'bulk_match'],
    errors: 'migrated',
  },
  poll: {
    method: 'GET',
    path: '/webhook_result/{request_id}',
    access: 'scope',
    usageName: ['api/v1/webhook_result', 'show'],
    errors: 'older',
  },
  health: {
    method: 'GET',
    path: '/auth/health',
    access: 'any',
    errors: 'migrated',
  },
  profile: {
    method: 'GET',
    path: '/users/api_profile',
    access: 'any',
    errors: 'migrated',
  },
  apiUsage: {
    method: 'POST',
    path: '/usage_stats/api_usage_stats',
    access: 'scope',
    errors: 'migrated',
  },
  creditUsage: {
    method: 'POST',
    path: '/usage_stats/credit_usage_stats',
    access: 'scope',
    errors: 'migrated',
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

/** The name of an operation in the log, rate windows, scopes and scenarios: its path without parameters. */
export function plainPath({ path }: Pick<Operation, 'path'>): string {
  return path.replace(/\/\{.*$/, '');
}
