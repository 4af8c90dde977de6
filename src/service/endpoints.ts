import type { Endpoint } from './failures/failure.ts';

export interface Operation extends Endpoint {
  readonly method: 'GET' | 'POST';
  /** Relative to the base address. */
  readonly path: string;
  /** Whether each request takes a slot of a rate window. */
  readonly isCounted: boolean;
}

function enrichment(path: string): Operation {
  return { name: `POST ${path}`, method: 'POST', path, paid: true, isCounted: true };
}

function report(method: Operation['method'], path: string): Operation {
  return { name: `${method} ${path}`, method, path, paid: false, isCounted: false };
}

/**
 * The operations that the client calls, besides polls. The interface document shows the paths of the first four. The
 * paths of the usage are those of public descriptions of such services.
 */
export const operations = {
  match: enrichment('/people/match'),
  bulkMatch: enrichment('/people/bulk_match'),
  health: report('GET', '/auth/health'),
  profile: report('GET', '/users/api_profile'),
  apiUsage: report('POST', '/usage_stats/api_usage_stats'),
  creditUsage: report('POST', '/usage_stats/credit_usage_stats'),
} as const satisfies Record<string, Operation>;

/** The poll operation of a request. Its path is a setting because the interface document does not show it. */
export function pollOperation(pollPath: string, requestId: string): Operation {
  const path = pollPath.replace('{request_id}', encodeURIComponent(requestId));
  return { name: `GET ${pollPath}`, method: 'GET', path, paid: false, isCounted: true };
}
