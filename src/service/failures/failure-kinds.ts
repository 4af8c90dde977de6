/**
 * What the caller does about a failure.
 * - `retry`: certainly not processed (or free of charge); the same call can be made again.
 * - `wait`: refused for its rate; the same call can be made after a pause.
 * - `pause`: no call will do until a person has changed something; the people are not at fault.
 * - `reject`: the service refuses what was sent about the people.
 * - `unknown`: may have been processed and billed; repeating it is a decision about money.
 */
export type Disposition = 'retry' | 'wait' | 'pause' | 'reject' | 'unknown';

interface FailureKind {
  readonly disposition: Disposition;
  readonly mayHaveBeenBilled: boolean;
  readonly what: string;
  readonly next: string;
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

const rejected = (what: string, next: string): FailureKind => ({
  disposition: 'reject',
  mayHaveBeenBilled: false,
  what,
  next,
});

const uncertain = (what: string): FailureKind => ({
  disposition: 'unknown',
  mayHaveBeenBilled: true,
  what,
  next: 'the call may have been billed: look at enrich attempts, and compare with the usage that the service shows',
});

const checkAddress = 'check ENRICHMENT_BASE_URL and the network';

/** The next step where a call failed without a clear answer that costs nothing whatever became of it. */
export const nothingBilled = 'nothing was billed: give the command again; enrich doctor tries the service';

/** Every way in which a call can fail, by its stable name. */
export const failureKinds = {
  'not-sent.refused': notSent('nothing listens at the address of the service', checkAddress),
  'not-sent.dns': notSent('the name of the service cannot be resolved', checkAddress),
  'not-sent.tls': notSent(
    'no trusted TLS connection to the service',
    'check ENRICHMENT_BASE_URL, this machine’s clock and its certificates (NODE_EXTRA_CA_CERTS for an own authority)',
  ),
  'not-sent.unreachable': notSent('no connection to the service', checkAddress),
  'not-sent.timeout': notSent('no connection to the service in time', checkAddress),
  'not-sent.no-token': notSent(
    'no access token could be read',
    'see by hand that the file of ENRICHMENT_ACCESS_TOKEN_FILE holds one, or that ENRICHMENT_ACCESS_TOKEN_COMMAND prints one',
  ),
  'not-sent.aborted': notSent('the call was given up before it was sent', 'run the command again'),

  'token-renewed': {
    disposition: 'retry',
    mayHaveBeenBilled: false,
    what: 'the access token had expired, and was renewed',
    next: 'nothing: the call is made again, in a slot of its own',
  },

  'rate-limited': {
    disposition: 'wait',
    mayHaveBeenBilled: false,
    what: 'the service refused a call for its rate',
    next: 'lower RATE_LIMITS if it happens often: other programs may use the same quota; enrich usage shows it',
  },

  unauthorized: paused(
    'the service does not accept the credential',
    'set ENRICHMENT_API_KEY (or ENRICHMENT_ACCESS_TOKEN) to a valid one of an active account, then: enrich resume RUN',
  ),
  forbidden: paused(
    'the credential may not use this endpoint',
    'give the key the scope of this endpoint, or a plan with access to it, then: enrich resume RUN',
  ),
  'out-of-credits': paused(
    'the account has no credits left',
    'add credits to the account (enrich usage shows what is left), then: enrich resume RUN',
  ),
  refused: paused(
    'the service refused the call',
    'look up the code in the documentation of the service; enrich usage and enrich whoami tell whether the account is in order',
  ),
  'not-found': paused(
    'the service knows nothing at this address',
    'check that ENRICHMENT_BASE_URL is the address of the service and ends in /api/v1; not every service offers every operation',
  ),
  redirected: paused(
    'the service answered with a redirect, which is never followed: it would carry the credential elsewhere',
    'set ENRICHMENT_BASE_URL to the address that the service is really at',
  ),

  validation: rejected(
    'the service refuses what was sent about the people',
    'look at the rows with outcome "rejected" and correct them in the CRM, or correct the column mapping',
  ),
  'record-limit': rejected(
    'the service accepts fewer people in one call',
    'nothing: the people are asked for in smaller calls',
  ),

  timeout: uncertain('no answer in time after the request was sent'),
  aborted: uncertain('the call was given up after it was sent'),
  'connection-lost': uncertain('the connection broke after the request was sent'),
  'server-error': uncertain('the service failed'),
  'unreadable-answer': uncertain('the answer is not what the interface describes'),
  'answer-too-large': uncertain('the answer is larger than any answer can be'),
} as const satisfies Record<string, FailureKind>;

export type FailureType = keyof typeof failureKinds;
