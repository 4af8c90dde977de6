import type { Endpoint } from './failures/failure.ts';

export interface Operation extends Endpoint {
  readonly method: 'GET' | 'POST';
  /** Relative to the base address. */
  readonly path: string;
  /** Whether each request takes a slot of a rate window. */
  readonly isCounted: boolean;
}

function operation(method: Operation['method'], path: string, price: 'free' | 'paid'): Operation {
  return { name: `${method} ${path}`, method, path, paid: price === 'paid', isCounted: false };
}

/**
 * The operations that the client calls.
 *
 * The interface document shows the paths of the first four. The other paths are those of public descriptions
 * of such services. An operation without a documented price counts as paid, except those that only report.
 */
export const operations = {
  match: { ...operation('POST', '/people/match', 'paid'), isCounted: true },
  bulkMatch: { ...operation('POST', '/people/bulk_match', 'paid'), isCounted: true },
  health: operation('GET', '/auth/health', 'free'),
  profile: operation('GET', '/users/api_profile', 'free'),
  apiUsage: operation('POST', '/usage_stats/api_usage_stats', 'free'),
  creditUsage: operation('POST', '/usage_stats/credit_usage_stats', 'free'),
  users: operation('GET', '/users/search', 'free'),
  searchPeople: operation('POST', '/mixed_people/search', 'paid'),
  enrichOrganization: operation('GET', '/organizations/enrich', 'paid'),
} as const satisfies Record<string, Operation>;

/** The poll operation of a request. Its path is a setting because the interface document does not show it. */
export function pollOperation(pollPath: string, requestId: string): Operation {
  const path = pollPath.replace('{request_id}', encodeURIComponent(requestId));
  return { name: `GET ${pollPath}`, method: 'GET', path, paid: false, isCounted: true };
}
