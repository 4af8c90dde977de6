import { trustStep, exitCodes } from '../../domain/problem.ts';

/**
 * What the caller does after a failure.
 * - `retry`: the call was not processed, or it is free. The caller may repeat it.
 * - `wait`: the service refused the call for its rate. The caller may repeat it after a pause.
 * - `pause`: every call will fail until a person changes something. The people of the call are not the cause.
 * - `reject`: the service refused what the call said about its people.
 * - `unknown`: the call may have been processed and billed. A person decides whether to repeat it.
 */
export type Disposition = 'retry' | 'wait' | 'pause' | 'reject' | 'unknown';

export interface FailureKind {
  readonly disposition: Disposition;
  readonly mayHaveBeenBilled: boolean;
  readonly what: string;
  readonly next: string;
  /** Of a command that the failure ends. */
  readonly exitCode?: number;
}

const notSent = (what: string, next: string): FailureKind => ({
  disposition: 'retry',
  mayHaveBeenBilled: false,
  what,
  next,
});

const paused = (what: string, next: string): FailureKind => ({
  disposition: 'pause',
  mayHaveBeenBilled: false,
  what,
  next,
});

/** The settings name a credential that cannot be used: a retry without a change fails as well. */
const wrongCredential = { exitCode: exitCodes.usage };

const rejected = (what: string, next: string): FailureKind => ({
  disposition: 'reject',
  mayHaveBeenBilled: false,
  what,
  next,
});

/** The next step for a paid call of unknown cost. */
export const maybeBilled =
  'the call may have been billed: enrich attempts list shows it; compare it with the usage at the service';

const uncertain = (what: string): FailureKind => ({
  disposition: 'unknown',
  mayHaveBeenBilled: true,
  what,
  next: maybeBilled,
});

const checkAddress = 'check ENRICHMENT_BASE_URL and the network';

/** The next step for a free call whose result is unknown. */
export const nothingBilled = 'nothing was billed: run the command again; enrich doctor checks the service';

/** The types of failures, by stable name. */
export const failureKinds = {
  'not-sent.refused': notSent('nothing listens at the address of the service', checkAddress),
  'not-sent.dns': notSent('the host name of the service cannot be resolved', checkAddress),
  'not-sent.tls': notSent(
    'no trusted TLS connection to the service',
    `check ENRICHMENT_BASE_URL, ${trustStep}`,
  ),
  'not-sent.unreachable': notSent('no connection to the service', checkAddress),
  'not-sent.timeout': notSent('no connection to the service in time', checkAddress),
  'not-sent.no-token': {
    ...notSent(
      'no access token could be read',
      'check that ENRICHMENT_ACCESS_TOKEN_FILE names a file with only the token, ' +
        'or that ENRICHMENT_ACCESS_TOKEN_COMMAND prints only the token',
    ),
    ...wrongCredential,
  },
  'not-sent.aborted': notSent('the call was aborted before it was sent', 'run the command again'),

  'token-renewed': {
    disposition: 'retry',
    mayHaveBeenBilled: false,
    what: 'the access token had expired and was renewed',
    next: 'nothing: the worker repeats the call in a slot of its own',
  },

  'rate-limited': {
    disposition: 'wait',
    mayHaveBeenBilled: false,
    what: 'the service refused a call for its rate',
    next: 'if this happens often, lower RATE_LIMITS: other programs may use the same quota (enrich usage)',
  },

  unauthorized: {
    ...paused(
      'the service does not accept the credential',
      'set ENRICHMENT_API_KEY or ENRICHMENT_ACCESS_TOKEN to that of an active account',
    ),
    ...wrongCredential,
  },
  forbidden: {
    ...paused(
      'the credential may not use this endpoint',
      'give the key the scope of this endpoint, or a plan with access to it',
    ),
    ...wrongCredential,
  },
  'out-of-credits': paused(
    'the account has no credits left',
    'add credits to the account (enrich usage shows what is left)',
  ),
  refused: paused(
    'the service refused the call',
    'find the code in the documentation of the service; enrich usage and enrich doctor show the account',
  ),
  'not-found': paused(
    'the service has no such operation or record at this address',
    'check that ENRICHMENT_BASE_URL is the address of the service and ends in /api/v1; ' +
      'if other calls succeed, the service or the credential does not offer this operation or record',
  ),
  redirected: paused(
    'the service answered with a redirect, and redirects are not followed, to protect the credential',
    'set ENRICHMENT_BASE_URL to the address that the service redirects to',
  ),

  validation: rejected(
    'the service refused the data of the people',
    'correct the rows with outcome "rejected" in the CRM, or correct the column mapping',
  ),
  'record-limit': rejected(
    'the service accepts fewer people in one call',
    'nothing: the worker asks for the people in smaller calls',
  ),

  timeout: uncertain('no answer in time after the request was sent'),
  aborted: uncertain('the call was aborted after it was sent'),
  'connection-lost': uncertain('the connection broke after the request was sent'),
  'server-error': uncertain('the service reported an internal error'),
  'unreadable-answer': uncertain('the answer does not have the documented form'),
  'answer-too-large': uncertain('the answer is larger than 16 MiB'),
} as const satisfies Record<string, FailureKind>;

export type FailureType = keyof typeof failureKinds;
