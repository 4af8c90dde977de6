import type { LoggedCall } from '../account/call-log.ts';
import type { LateRequest } from '../late-results/late-parameters.ts';

/** The result of a processed call: the body as JSON text, its bill, and its late results. */
export interface ProcessedCall {
  readonly body: string;
  readonly billing?: Pick<LoggedCall, 'people' | 'credits' | 'billed' | 'requestId'>;
  readonly late?: LateRequest | undefined;
}
