import { z } from 'zod';
import { parseCredits, type Credits } from '../domain/money/decimal.ts';
import { parseDuration } from '../domain/text/duration.ts';
import { notifiedEvents, type NotifiedEvent } from '../domain/runs/notified-event.ts';
import { Problem, exitCodes } from '../domain/problem.ts';

/** Where a server of ours listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
}

/** For how many seconds an answer counts as recent, by what the answer was. */
export interface Freshness {
  readonly enrichedSeconds: number;
  /** Misses have a clock of their own: the service may learn of a person any day. */
  readonly notFoundSeconds: number;
}

/** An empty variable means "not set": compose files and CI pass empty strings for what they leave out. */
export const text = z
  .string()
  .trim()
  .transform((value) => (value === '' ? undefined : value))
  .optional();

/** One of a fixed set of values. */
export function oneOf<const Word extends string>(...words: readonly Word[]) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

export const url = (...protocols: string[]) =>
  text.refine((value) => value === undefined || protocols.includes(protocolOf(value)), {
    error: `must be an address beginning with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    abort: true,
  });

export const count = (fallback: number, minimum: number, maximum: number) =>
  text.transform((value, context) => {
    const number = value === undefined ? fallback : Number(value);
    if (Number.isInteger(number) && number >= minimum && number <= maximum) return number;
    context.addIssue({ code: 'custom', message: `must be a whole number from ${minimum} to ${maximum}` });
    return z.NEVER;
  });

/** What a parser of the domain refuses becomes an issue, so that every wrong setting is named at once. */
export const parsed = <Value>(fallback: string, parse: (value: string) => Value) =>
  text.transform((value, context) => {
    try {
      return parse(value ?? fallback);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      context.addIssue({ code: 'custom', message: `is wrong, ${error.message}: ${error.next}` });
      return z.NEVER;
    }
  });

export const duration = (setting: string, fallback: string) =>
  parsed(fallback, (value) => parseDuration(value, setting));

export const credits = text.transform((value, context): Credits | undefined => {
  const number = value === undefined ? undefined : parseCredits(value);
  if (number !== undefined || value === undefined) return number;
  context.addIssue({ code: 'custom', message: 'must be a number of credits, such as 500 or 12.5' });
  return z.NEVER;
});

export const listenAddress = (example: string) =>
  text.transform((value, context): ListenAddress | undefined => {
    if (value === undefined) return undefined;
    const [, host, port] = /^(?:(.*):)?(\d{1,5})$/.exec(value) ?? [];
    if (port !== undefined && Number(port) <= 65_535)
      return { host: host?.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port: Number(port) };
    context.addIssue({ code: 'custom', message: `must be host:port, such as ${example}` });
    return z.NEVER;
  });

/**
 * Reads `FRESHNESS`: one duration for every answer (`90d`), or one each (`enriched=90d,not_found=30d`). `0s` asks again
 * every time.
 */
export function parseFreshness(setting: string): Freshness {
  if (!setting.includes('=')) {
    const seconds = parseDuration(setting, 'FRESHNESS');
    return { enrichedSeconds: seconds, notFoundSeconds: seconds };
  }
  const clocks = new Map([
    ['enriched', 90 * 86_400],
    ['not_found', 30 * 86_400],
  ]);
  for (const part of setting.split(',')) {
    const [name = '', value = ''] = part.split('=').map((word) => word.trim());
    if (!clocks.has(name)) {
      throw new Problem('setting.invalid', `FRESHNESS knows no clock named "${name}"`, {
        where: 'FRESHNESS',
        next: 'write one duration (90d), or enriched=90d,not_found=30d',
        exitCode: exitCodes.usage,
      });
    }
    clocks.set(name, parseDuration(value, 'FRESHNESS'));
  }
  return { enrichedSeconds: clocks.get('enriched')!, notFoundSeconds: clocks.get('not_found')! };
}

/** Reads `BUDGET_ALARMS`: `50%,80%`; `none` raises no alarm. */
export function parsePercents(setting: string): readonly number[] {
  if (setting === 'none') return [];
  const percents = setting.split(',').map((part) => /^\s*(\d{1,3})\s*%\s*$/.exec(part)?.[1]);
  const numbers = percents.map(Number).filter((percent) => percent >= 1 && percent <= 100);
  if (numbers.length === percents.length) return [...new Set(numbers)].sort((one, other) => one - other);
  throw new Problem('setting.invalid', 'not every part is a share of a budget', {
    where: 'BUDGET_ALARMS',
    next: 'write percents from 1% to 100%, such as 50%,80%, or none',
    exitCode: exitCodes.usage,
  });
}

/** Reads `NOTIFY_ON`: names of events, joined by commas. */
export function parseNotifiedEvents(setting: string): NotifiedEvent[] {
  return setting.split(',').map((part) => {
    const event = notifiedEvents.find((name) => name === part.trim());
    if (event !== undefined) return event;
    throw new Problem('setting.invalid', `NOTIFY_ON knows no event named "${part.trim()}"`, {
      where: 'NOTIFY_ON',
      next: `write some of ${notifiedEvents.join(', ')}, joined by commas`,
      exitCode: exitCodes.usage,
    });
  });
}

function protocolOf(value: string): string {
  return URL.canParse(value) ? new URL(value).protocol : '';
}
