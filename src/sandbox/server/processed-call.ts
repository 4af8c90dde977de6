import type { LoggedCall } from '../account/call-log.ts';
import type { LatePerson } from '../late-results/late-bodies.ts';

/** The result of a processed call: the body as JSON text, its bill, and its late results. */
export interface ProcessedCall {
  readonly body: string;
  readonly billing?: Pick<LoggedCall, 'people' | 'credits' | 'billed' | 'requestId'>;
  readonly late?: LateRequest | undefined;
}

/** The late results of a request. */
export interface LateRequest {
  readonly requestId: string;
  readonly webhookUrl: string;
  readonly asked: number;
  readonly people: readonly LatePerson[];
  readonly phones: boolean;
  readonly waterfall: readonly ('emails' | 'phone_numbers')[];
  /** Credits billed with the answer; a waterfall's delivery reports the price of the whole request. */
  readonly creditsOfAnswer: number;
}
