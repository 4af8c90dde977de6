import type { z } from 'zod';
import * as answers from './answer-schemas.ts';
import type { Access } from '../account/credentials.ts';
import type { ErrorShape } from '../faults/failures.ts';
import * as inputs from './inputs.ts';

/** One operation of the service: what the server, the usage statistics and the OpenAPI description are made from. */
export interface Operation {
  readonly method: 'GET' | 'POST';
  /** Below the base address. */
  readonly path: string;
  readonly summary: string;
  readonly access: Access;
  /** Stands in the log, and counts against a rate window under this name of the usage statistics. */
  readonly usageName: readonly [string, string] | undefined;
  readonly errors: ErrorShape;
  readonly query?: z.ZodObject;
  readonly parameters?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly answer: z.ZodType;
  /** Statuses of its own refusals; 401, 403 and, where it is limited, 429 come on top of them. */
  readonly refusals: readonly number[];
}

/** Every operation of the sandbox, by the paths that public descriptions of such services give. */
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
    summary: 'Fetch what a webhook carries; free',
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
    summary: 'Check that a credential works',
    access: 'any',
    usageName: undefined,
    errors: 'migrated',
    answer: answers.healthSchema,
    refusals: [],
  },
  profile: {
    method: 'GET',
    path: '/users/api_profile',
    summary: 'The user whom the credential acts as; free',
    access: 'any',
    usageName: undefined,
    errors: 'migrated',
    answer: answers.userSchema,
    refusals: [],
  },
  users: {
    method: 'GET',
    path: '/users/search',
    summary: 'List the users of the team; needs a master key',
    access: 'master',
    usageName: undefined,
    errors: 'migrated',
    query: inputs.pageSchema,
    answer: answers.usersAnswerSchema,
    refusals: [422],
  },
  apiUsage: {
    method: 'POST',
    path: '/usage_stats/api_usage_stats',
    summary: 'What is used of the rate windows; needs a master key or its scope',
    access: 'scope',
    usageName: undefined,
    errors: 'migrated',
    answer: answers.apiUsageSchema,
    refusals: [422],
  },
  creditUsage: {
    method: 'POST',
    path: '/usage_stats/credit_usage_stats',
    summary: 'What is used of the credits; needs a master key or its scope',
    access: 'scope',
    usageName: undefined,
    errors: 'migrated',
    answer: answers.creditUsageSchema,
    refusals: [422],
  },
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

/** What the log, the rate windows, scopes and scenarios call an operation: its path without a parameter. */
export function plainPath({ path }: Pick<Operation, 'path'>): string {
  return path.replace(/\/\{.*$/, '');
}
