import { z } from 'zod';
import type { Credits } from '../../domain/money/decimal.ts';
import type { Person } from '../../domain/identity/person.ts';
import { readAnswer } from './answer.ts';
import { laterResults } from './bulk-answer.ts';
import { readCredits, readRequestId } from './exact-values.ts';
import type { Endpoint } from '../failures/failure.ts';
import { readRateHeaders, type RateWindow } from '../rate-headers.ts';
import { personSchema } from './schemas/person.ts';
import type { HttpAnswer } from '../transport.ts';

export interface MatchAnswer {
  readonly requestId: string | undefined;
  /**
   * Undefined: no person. A miss may also be a stub without names and address but with an organization; the
   * identity rule rejects a stub.
   */
  readonly person: Person | undefined;
  readonly waterfall: { readonly status: string } | undefined;
  /** Not in the interface document; some services send it. */
  readonly creditsConsumed: Credits | undefined;
  readonly rateLimits: readonly RateWindow[];
  readonly raw: Buffer;
}

/** The service bills only returned data, so a person without data counts as not found. */
function hasData(person: Person): boolean {
  return Object.values(person).some((value) => value !== null && value !== undefined);
}

const schema = z.looseObject({ person: personSchema.nullish(), waterfall: laterResults });

/**
 * Reads the answer of a single call. Pure.
 *
 * @throws ServiceFailure, also for a person in an invalid format: the answer has no other person to keep
 */
export function readMatchAnswer(answer: HttpAnswer, endpoint: Endpoint): MatchAnswer {
  const { data, members } = readAnswer(answer, endpoint, schema);
  return {
    requestId: readRequestId(members.get('request_id')),
    person: data.person && hasData(data.person) ? data.person : undefined,
    waterfall: data.waterfall ?? undefined,
    creditsConsumed: readCredits(members.get('credits_consumed')).credits,
    rateLimits: readRateHeaders(answer.headers),
    raw: answer.body,
  };
}
