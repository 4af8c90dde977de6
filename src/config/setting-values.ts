import { z } from 'zod';
import { parseCredits, type Credits } from '../domain/money/decimal.ts';
import { parseDuration } from '../domain/text/duration.ts';
import { notifiedEvents, type NotifiedEvent } from '../domain/runs/notified-event.ts';
import { Problem, UsageProblem } from '../domain/problem.ts';

/** The address that a server of the product listens on. */
export interface ListenAddress {
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
}

/** A text setting. Empty means not set, because compose files and CI pass empty strings. */
export const text = z
  .string()
  .trim()
  .transform((value) => (value === '' ? undefined : value))
  .optional();

/** A setting with a fixed set of values. */
export function oneOf<const Word extends string>(...words: readonly Word[]) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

/** An address with one of these protocols. */
export const url = (...protocols: string[]) =>
  text.refine((value) => value === undefined || protocols.includes(protocolOf(value)), {
    error: `must be an address beginning with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    abort: true,
  });

/** The address of a database. The driver knows only one host, and does not try a second one. */
export const databaseAddress = text
  .refine((value) => value === undefined || !severalHosts.test(value), {
    error:
      'has several hosts: name one address that leads to the primary server, such as a DNS name or a proxy ' +
      '(docs/production.md)',
    abort: true,
  })
  .pipe(url('postgres:', 'postgresql:'));

/** Before the path: `postgres://user:secret@one,two:5432/database`. In the query: `?host=one,two`. */
const severalHosts = /^[a-z]+:\/\/(?:[^/?#]*@)?[^/?#@]*,[^/?#@]*(?:[/?#]|$)|[?&]host=[^&#]*(?:,|%2c)/i;

/**
 * The address of the service in its only spelling: stored answers belong to the service of this name, and a second
 * spelling would pay for every person again.
 */
export const serviceAddress = url('http:', 'https:').transform((value, context): string | undefined => {
  if (value === undefined) return undefined;
  const { origin, pathname, username, password, search, hash } = new URL(value);
  const address = `${origin}${pathname.replace(/\/+$/, '')}`;
  const wrong =
    username + password + search + hash !== ''
      ? 'must have no user, query or fragment: the credential is ENRICHMENT_API_KEY or ENRICHMENT_ACCESS_TOKEN'
      : !address.endsWith('/api/v1') && 'must end in /api/v1';
  if (wrong === false) return address;
  context.addIssue({ code: 'custom', message: wrong });
  return z.NEVER;
});

/** A whole number within limits. */
export const count = (fallback: number, minimum: number, maximum: number) =>
  text.transform((value, context) => {
    const number = value === undefined ? fallback : Number(value);
    if (Number.isInteger(number) && number >= minimum && number <= maximum) return number;
    context.addIssue({ code: 'custom', message: `must be a whole number from ${minimum} to ${maximum}` });
    return z.NEVER;
  });

/**
 * A setting that a parser of the domain reads. Its Problem becomes an issue, so that one error names every
 * wrong setting.
 */
export const parsed = <Value>(fallback: string, parse: (value: string) => Value) =>
  text.transform((value, context) => {
    try {
      return parse(value ?? fallback);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      context.addIssue({
        code: 'custom',
        message: `is wrong: ${error.message}`,
        params: { next: error.next },
      });
      return z.NEVER;
    }
  });

/** A duration in seconds, written as `parseDuration` reads it. @param bounds shortest and longest; default: none */
export const duration = (
  setting: string,
  fallback: string,
  bounds?: readonly [shortest: string, longest: string],
) =>
  parsed(fallback, (value) => {
    const seconds = parseDuration(value, setting);
    if (bounds === undefined) return seconds;
    const [shortest, longest] = bounds.map((bound) => parseDuration(bound, setting)) as [number, number];
    if (seconds >= shortest && seconds <= longest) return seconds;
    throw new UsageProblem('setting.invalid', `"${value}" is not from ${bounds.join(' to ')}`, {
      where: setting,
      next: `write a duration from ${bounds.join(' to ')}`,
    });
  });

/** An amount of credits; undefined: no limit. */
export const credits = text.transform((value, context): Credits | undefined => {
  const number = value === undefined ? undefined : parseCredits(value);
  if (number !== undefined || value === undefined) return number;
  context.addIssue({ code: 'custom', message: 'must be credits from 0 up, such as 500 or 12.5' });
  return z.NEVER;
});

/** An address `host:port`, or only a port on 127.0.0.1. */
export const listenAddress = (example: string) =>
  text.transform((value, context): ListenAddress | undefined => {
    if (value === undefined) return undefined;
    const [, host, port] = /^(?:(.*):)?(\d{1,5})$/.exec(value) ?? [];
    if (port !== undefined && Number(port) <= 65_535)
      return { host: host?.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port: Number(port) };
    context.addIssue({ code: 'custom', message: `must be host:port, such as ${example}` });
    return z.NEVER;
  });

/** The URL of a server of the product; brackets enclose an IPv6 address. */
export function httpAddress({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Reads `BUDGET_ALARMS`: `50%,80%`, or `none`.
 *
 * @returns percents of a budget, ascending
 * @throws Problem `setting.invalid`
 */
export function parsePercents(setting: string): readonly number[] {
  if (setting === 'none') return [];
  const percents = setting.split(',').map((part) => {
    const percent = Number(/^\s*(\d{1,3})\s*%\s*$/.exec(part)?.[1]);
    if (percent >= 1 && percent <= 100) return percent;
    throw new UsageProblem('setting.invalid', `"${part.trim()}" is not a percentage of a budget`, {
      where: 'BUDGET_ALARMS',
      next: 'write percents from 1% to 100%, such as 50%,80%, or none',
    });
  });
  return [...new Set(percents)].sort((one, other) => one - other);
}

/**
 * Reads `NOTIFY_ON`: names of events, separated by commas.
 *
 * @throws Problem `setting.invalid`
 */
export function parseNotifiedEvents(setting: string): NotifiedEvent[] {
  return setting.split(',').map((part) => {
    const event = notifiedEvents.find((name) => name === part.trim());
    if (event !== undefined) return event;
    throw new UsageProblem('setting.invalid', `there is no event "${part.trim()}"`, {
      where: 'NOTIFY_ON',
      next: `write names of events, separated by commas: ${notifiedEvents.join(', ')}`,
    });
  });
}

function protocolOf(value: string): string {
  return URL.canParse(value) ? new URL(value).protocol : '';
}
