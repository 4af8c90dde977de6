import { z } from 'zod';
import { parseCredits } from '../domain/money/decimal.ts';
import { parseDuration } from '../domain/text/duration.ts';
import { notifiedEvents } from '../domain/runs/notified-event.ts';
import { Problem } from '../domain/problem.ts';

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
export const serviceAddress = url('http:', 'https:')
  .refine((value) => value === undefined || isWithoutExtras(new URL(value)), {
    error:
      'must have no user, query or fragment: the credential is ENRICHMENT_API_KEY or ENRICHMENT_ACCESS_TOKEN',
    abort: true,
  })
  .transform((value) => {
    const { origin, pathname } = new URL(value ?? 'http://none');
    return value && `${origin}${pathname.replace(/\/+$/, '')}`;
  })
  .refine((value) => value?.endsWith('/api/v1') ?? true, { error: 'must end in /api/v1' });

function isWithoutExtras({ username, password, search, hash }: URL): boolean {
  return username + password + search + hash === '';
}

/**
 * A setting of another type.
 *
 * @param must what the text must be, as the end of a sentence
 * @param read returns undefined for any other text
 */
export const known = <Value>(must: string, read: (text: string) => Value | undefined) =>
  text.transform((given, context): Value | undefined => {
    const found = given === undefined ? undefined : read(given);
    if (found !== undefined || given === undefined) return found;
    context.addIssue({ code: 'custom', message: `must be ${must}` });
    return z.NEVER;
  });

/** A whole number within limits. */
export const count = (fallback: number, minimum: number, maximum: number) =>
  known(`a whole number from ${minimum} to ${maximum}`, (given) => {
    const number = Number(given);
    return Number.isInteger(number) && number >= minimum && number <= maximum ? number : undefined;
  }).transform((number) => number ?? fallback);

/**
 * A setting that a parser of the domain reads. Its Problem becomes an issue, so that one error names every
 * wrong setting.
 */
export const parsed = <Value>(fallback: string, parse: (value: string) => Value) =>
  text.transform((given, context) => {
    try {
      return parse(given ?? fallback);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const message = `is wrong: ${error.message}`;
      context.addIssue({ code: 'custom', message, params: { next: error.next } });
      return z.NEVER;
    }
  });

/** A duration in seconds, written as `parseDuration` reads it. */
export const duration = (setting: string, fallback: string) =>
  parsed(fallback, (given) => parseDuration(given, setting));

/** An amount of credits; undefined: no limit. */
export const credits = known('credits from 0 up, such as 500 or 12.5', parseCredits);

/** An address `host:port`, or only a port on 127.0.0.1. */
export const listenAddress = (example: string) =>
  known(`host:port, such as ${example}`, (given): ListenAddress | undefined => {
    const [, host, port] = /^(?:(.*):)?(\d{1,5})$/.exec(given) ?? [];
    if (port === undefined || Number(port) > 65_535) return undefined;
    return { host: host?.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port: Number(port) };
  });

/** The URL of a server of the product; brackets enclose an IPv6 address. */
export function httpAddress({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Values separated by commas; undefined if `read` returns undefined for one of them. */
function listOf<Value>(given: string, read: (part: string) => Value | undefined): Value[] | undefined {
  const values = given.split(',').map((part) => read(part.trim()));
  return values.every((each) => each !== undefined) ? values : undefined;
}

/** Percents of a budget, ascending: `50%,80%`; none: `none`. */
export const percents = known('percents from 1% to 100%, such as 50%,80%, or none', (given) => {
  if (given === 'none') return [];
  const read = (part: string) =>
    /^(?:100|[1-9]\d?)\s*%$/.test(part) ? Number.parseInt(part, 10) : undefined;
  return listOf(given, read)?.toSorted((one, other) => one - other);
});

/** Names of events, separated by commas. */
export const events = known(`names of events, separated by commas: ${notifiedEvents.join(', ')}`, (given) =>
  listOf(given, (part) => notifiedEvents.find((name) => name === part)),
);

function protocolOf(given: string): string {
  return URL.canParse(given) ? new URL(given).protocol : '';
}
