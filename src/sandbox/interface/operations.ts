import type { z } from 'zod';
import * as answers from './answer-schemas.ts';
import type { Access } from '../account/credentials.ts';
import type { ErrorShape } from '../faults/failures.ts';
import * as inputs from './inputs.ts';

/**
 * One operation of the service: source of the server's routes, the usage statistics and the OpenAPI
 * description.
 */
export interface Operation {
  readonly method: 'GET' | 'POST';
  /** Relative to the base address. */
  readonly path: string;
  readonly summary: string;
  readonly access: Access;
  /** Its name in usage statistics. An operation with a name is logged and counted by rate windows. */
  readonly usageName?: readonly [string, string];
  readonly errors: ErrorShape;
  readonly query?: z.ZodObject;
  readonly parameters?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly answer: z.ZodType;
  /** Statuses of its own refusals, besides 401, 403 and, for limited operations, 429. */
  readonly refusals?: readonly number[];
}

/** The operations of the sandbox, with the paths of public descriptions of such services. */
export const operations = {
  match: {
    method: 'POST',
    path: '/people/match',
    summary: 'Enrich one person; all inputs are query parameters',
    access: 'scope',
    usageName: ['api/v1/people', 'match'],
    errors: 'older',
    query: inputs.matchQuerySchema,
    answer: answers.matchAnswerSchema,
    refusals: [402, 422],
  },
  bulkMatch: {
    method: 'POST',
    path: '/people/bulk_match',
    summary: 'Enrich up to 10 people',
    access: 'scope',
    usageName: ['api/v1/people', 'bulk_match'],
    errors: 'migrated',
    query: inputs.extrasSchema,
    body: inputs.bulkBodySchema,
    answer: answers.bulkAnswerSchema,
    refusals: [400, 402, 422],
  },
  poll: {
    method: 'GET',
    path: '/webhook_result/{request_id}',
    summary: 'Fetch the result that the webhook delivers; free',
    access: 'scope',
    usageName: ['api/v1/webhook_result', 'show'],
    errors: 'older',
    parameters: inputs.pollParametersSchema,
    answer: answers.pollAnswerSchema,
    refusals: [400, 404, 410],
  },
  searchPeople: {
    method: 'POST',
    path: '/mixed_people/search',
    summary: 'Search people, page by page; addresses are placeholders',
    access: 'scope',
    usageName: ['api/v1/mixed_people', 'search'],
    errors: 'migrated',
    body: inputs.searchBodySchema,
    answer: answers.searchAnswerSchema,
    refusals: [422],
  },
  enrichOrganization: {
    method: 'GET',
    path: '/organizations/enrich',
    summary: 'Enrich one company by its domain',
    access: 'scope',
    usageName: ['api/v1/organizations', 'enrich'],
    errors: 'details',
    query: inputs.organizationQuerySchema,
    answer: answers.organizationAnswerSchema,
    refusals: [422],
  },
  health: {
    method: 'GET',
    path: '/auth/health',
    summary: 'Check the credential',
    access: 'any',
    errors: 'migrated',
    answer: answers.healthSchema,
  },
  profile: {
    method: 'GET',
    path: '/users/api_profile',
    summary: 'Show the user that the credential acts as; free',
    access: 'any',
    errors: 'migrated',
    answer: answers.userSchema,
  },
  users: {
    method: 'GET',
    path: '/users/search',
    summary: 'List the users of the team; needs a master key',
    access: 'master',
    errors: 'migrated',
    query: inputs.pageSchema,
    answer: answers.usersAnswerSchema,
    refusals: [422],
  },
  apiUsage: {
    method: 'POST',
    path: '/usage_stats/api_usage_stats',
    summary: 'Show the usage of the rate windows; needs a master key or its scope',
    access: 'scope',
    errors: 'migrated',
    answer: answers.apiUsageSchema,
    refusals: [422],
  },
  creditUsage: {
    method: 'POST',
    path: '/usage_stats/credit_usage_stats',
    summary: 'Show the usage of credits; needs a master key or its scope',
    access: 'scope',
    errors: 'migrated',
    answer: answers.creditUsageSchema,
    refusals: [422],
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

/** The name of an operation in the log, rate windows, scopes and scenarios: its path without parameters. */
export function plainPath({ path }: Pick<Operation, 'path'>): string {
  return path.replace(/\/\{.*$/, '');
}
