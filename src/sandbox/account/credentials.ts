import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from '../faults/failures.ts';
import { actingAdmin, grantingUserId, type TeamUser } from './team.ts';

export interface ApiKey {
  readonly key: string;
  /** Paths such as `/people/bulk_match`; absent: a master key, which may call every path. */
  readonly scopes?: readonly string[] | undefined;
}

export interface AccessToken {
  readonly token: string;
  /** The user who granted it. */
  readonly userId?: string;
  /** Paths; absent: every path that needs no master key. */
  readonly scopes?: readonly string[];
  /** Number of accepted calls, or of seconds from now; absent: unlimited. */
  readonly calls?: number | undefined;
  readonly seconds?: number | undefined;
}

export interface CredentialOptions {
  /** A string is a master key. */
  readonly apiKeys: readonly (string | ApiKey)[];
  readonly accessTokens: readonly (string | AccessToken)[];
  readonly team: readonly TeamUser[];
  /** Lifetime of tokens from `issue`. */
  readonly issuedTokens: Pick<AccessToken, 'calls' | 'seconds'>;
  readonly now: () => number;
}

/** The access that an operation requires: any valid credential, a scope for the path, or a master key. */
export type Access = 'any' | 'scope' | 'master';

export interface Caller {
  readonly kind: 'api-key' | 'access-token';
  readonly userId: string;
}

interface LivingToken extends AccessToken {
  readonly endsAt: number;
  left: number;
}

/** Checks credentials by the interface document's rules of Authentication. */
export class Credentials {
  readonly #options: CredentialOptions;
  readonly #keys: ReadonlyMap<string, ApiKey>;
  readonly #tokens = new Map<string, LivingToken>();

  constructor(options: CredentialOptions) {
    this.#options = options;
    this.#keys = new Map(
      options.apiKeys.map((each) => (typeof each === 'string' ? [each, { key: each }] : [each.key, each])),
    );
    for (const each of options.accessTokens) this.#add(typeof each === 'string' ? { token: each } : each);
  }

  /**
   * Checks the credential of a call, and counts the call of a token.
   *
   * @returns the acting user, or a refusal
   */
  check(headers: IncomingHttpHeaders, access: Access, path: string): Caller | Refusal {
    const key = headers['x-api-key'];
    if (typeof key === 'string') return this.#checkKey(key, access, path);
    if (headers.authorization === undefined) return missing;
    // Rule 1: a key is refused as a bearer token.
    const token = this.#tokens.get(/^Bearer (.+)$/i.exec(headers.authorization)?.[1] ?? '');
    if (!token || token.left <= 0 || this.#options.now() >= token.endsAt) return invalidToken;
    token.left -= 1;
    if (access === 'master' || !allows(token.scopes, access, path)) return inaccessible;
    return { kind: 'access-token', userId: token.userId ?? grantingUserId };
  }

  /** Issues an access token in the service's format (JWT). */
  issue(): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const issuedAt = Math.floor(this.#options.now() / 1_000);
    const { seconds } = this.#options.issuedTokens;
    const token = [
      part({ alg: 'HS256', typ: 'JWT' }),
      part({ sub: grantingUserId, iat: issuedAt, ...(seconds !== undefined && { exp: issuedAt + seconds }) }),
      randomBytes(32).toString('base64url'),
    ].join('.');
    this.#add({ token, ...this.#options.issuedTokens });
    return token;
  }

  #add(token: AccessToken): void {
    this.#tokens.set(token.token, {
      ...token,
      endsAt: this.#options.now() + (token.seconds ?? Number.POSITIVE_INFINITY) * 1_000,
      left: token.calls ?? Number.POSITIVE_INFINITY,
    });
  }

  #checkKey(key: string, access: Access, path: string): Caller | Refusal {
    const known = this.#keys.get(key);
    const admin = actingAdmin(this.#options.team);
    if (!known || !admin) return invalidKey;
    const isMaster = known.scopes === undefined;
    if (access === 'master' ? !isMaster : !allows(known.scopes, access, path)) return inaccessible;
    return { kind: 'api-key', userId: admin.id };
  }
}

function allows(scopes: readonly string[] | undefined, access: Access, path: string): boolean {
  return access === 'any' || scopes === undefined || scopes.includes(path);
}

const missing: Refusal = {
  status: 401,
  code: 'AUTH.AUTHENTICATION.CREDENTIALS_MISSING',
  message: 'No credential was sent.',
  suggestions: [{ label: 'Send the key of your workspace', header: 'x-api-key' }],
};

export const invalidKey: Refusal = {
  status: 401,
  code: 'AUTH.AUTHENTICATION.CREDENTIALS_INVALID',
  message: 'Invalid access credentials.',
  suggestions: [{ label: 'Check the key', header: 'x-api-key' }],
};

/** The refusal of bearer tokens, including keys sent as bearer tokens. */
export const invalidToken: Refusal = {
  status: 401,
  code: 'AUTH.AUTHENTICATION.INVALID_ACCESS_TOKEN',
  oldCode: 'INVALID_ACCESS_TOKEN',
  message: 'The access token is invalid or has expired.',
  suggestions: [{ label: 'Refresh the token', header: 'Authorization' }],
};

export const inaccessible: Refusal = {
  status: 403,
  code: 'AUTH.AUTHORIZATION.API_INACCESSIBLE',
  oldCode: 'API_INACCESSIBLE',
  message: 'The endpoint is not accessible with this credential.',
  suggestions: [{ label: 'Use a master key, or give the key the scope of this endpoint' }],
};
