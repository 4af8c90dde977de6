import type { Incoming } from '../server/call-handler.ts';
import type { ProcessedCall } from '../server/processed-call.ts';
import type { CallLog } from './call-log.ts';
import type { Caller } from './credentials.ts';
import type { Refusal } from '../faults/failures.ts';
import type { Faults } from '../faults/faults.ts';
import { pageSchema } from '../interface/inputs.ts';
import { operations, plainPath, type Operation } from '../interface/operations.ts';
import { pagination, pageOf } from '../server/pages.ts';
import type { RateWindows } from './rate-window.ts';
import { invalid } from '../faults/refusals.ts';
import type { TeamUser } from './team.ts';

export interface ReportingParts {
  readonly team: readonly TeamUser[];
  readonly windows: RateWindows;
  readonly log: CallLog;
  readonly faults: Faults;
  readonly now: () => number;
}

/** Free operations that report on the credential, the team and the usage. */
export class Reporting {
  readonly #parts: ReportingParts;

  constructor(parts: ReportingParts) {
    this.#parts = parts;
  }

  /** GET /auth/health */
  health(): ProcessedCall {
    return { body: JSON.stringify({ healthy: true, is_logged_in: true }) };
  }

  /** GET /users/api_profile: the user that the credential acts as. */
  profile({ userId }: Caller): ProcessedCall | Refusal {
    const user = this.#parts.team.find(({ id }) => id === userId);
    if (user) return { body: JSON.stringify(user) };
    return { status: 404, code: 'USERS.RECORD.NOT_FOUND', message: 'The user does not exist.' };
  }

  /** GET /users/search: deleted users too. */
  users({ query }: Incoming): ProcessedCall | Refusal {
    const page = pageSchema.safeParse(query);
    if (!page.success) return invalid(page.error);
    const { team } = this.#parts;
    const users = pageOf(page.data, (number) => team[number]).filter((user) => user !== undefined);
    return { body: JSON.stringify({ users, pagination: pagination(page.data, team.length) }) };
  }

  /** POST /usage_stats/api_usage_stats: the windows that the headers report and that refuse calls. */
  apiUsage({ arrivedAt }: Incoming): ProcessedCall {
    const { windows, faults } = this.#parts;
    const limited = Object.values(operations).filter((operation: Operation) => operation.usageName);
    const usage = limited.map((operation: Operation) => {
      const path = plainPath(operation);
      const [group = '', action = ''] = operation.usageName ?? [];
      return [`["${group}", "${action}"]`, windows.usage(path, arrivedAt, faults.usedByOthers(path))];
    });
    return { body: JSON.stringify(Object.fromEntries(usage)) };
  }

  /** POST /usage_stats/credit_usage_stats: the bill; the cycle is the month. */
  creditUsage(): ProcessedCall {
    const { log, faults, now } = this.#parts;
    const consumed = log.credits();
    const left = faults.creditsLeft();
    const credits =
      left === undefined
        ? { limit: null, consumed, left_over: null }
        : { limit: consumed + left, consumed, left_over: left };
    const date = new Date(now());
    const day = (month: number, dayOfMonth: number) =>
      new Date(Date.UTC(date.getUTCFullYear(), month, dayOfMonth)).toISOString().slice(0, 10);
    return {
      body: JSON.stringify({
        credit_usage_stats: { enrichment: credits },
        current_credit_cycle: {
          start_date: day(date.getUTCMonth(), 1),
          end_date: day(date.getUTCMonth() + 1, 0),
        },
      }),
    };
  }
}
