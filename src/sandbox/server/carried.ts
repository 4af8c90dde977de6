import type { LoggedCall } from '../account/call-log.ts';
import type { LatePerson } from '../late-results/late-bodies.ts';

/** What an operation makes of a call that it carries out: JSON text, its price, and what comes later. */
export interface Carried {
  readonly body: string;
  readonly billing?: Pick<LoggedCall, 'people' | 'credits' | 'billed' | 'requestId'>;
  readonly late?: LateRequest | undefined;
}

/** What a request wants later. */
export interface LateRequest {
  readonly requestId: string;
  readonly webhookUrl: string;
  readonly asked: number;
  readonly people: readonly LatePerson[];
  readonly phones: boolean;
  readonly waterfall: readonly ('emails' | 'phone_numbers')[];
  /** Billed with the answer: a waterfall's delivery says the price of the whole request. */
  readonly creditsOfAnswer: number;
}
