import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { inaccessible, invalidKey, invalidToken, missingCredential, type Refusal } from './refusals.ts';

export interface ApiKey {
  readonly key: string;
  /** Paths such as `/people/bulk_match`; absent: a master key, which may call every path. */
  readonly scopes?: readonly string[];
}

export interface CredentialOptions {
  /** A string is a master key. */
  readonly apiKeys: readonly (string | ApiKey)[];
  readonly accessTokens: readonly string[];
  /** Accepted calls of each token from `issue`; absent: unlimited. */
  readonly tokenCalls: number | undefined;
  readonly now: () => number;
}

export interface Caller {
  readonly isToken: boolean;
  /** The profile of the acting user. */
  readonly user: object;
}

/** Rule 4: a key acts as the earliest-created user who is an admin and not deleted. */
const admin = { id: '5b00000000000000000000a1', first_name: 'Mina', last_name: 'Clarke', is_admin: true };
/** Rule 5: a token acts as the user who granted it. */
const granting = {
  id: '5b00000000000000000000b1',
  first_name: 'Greta',
  last_name: 'Moreau',
  is_admin: false,
};

/** Checks credentials by the rules of "Authentication" in the interface document. */
export class Credentials {
  readonly #options: CredentialOptions;
  readonly #keys: ReadonlyMap<string, ApiKey>;
  /** Calls that are left of each token. */
  readonly #tokens: Map<string, number>;

  constructor(options: CredentialOptions) {
    this.#options = options;
    const keys = options.apiKeys.map((each) => (typeof each === 'string' ? { key: each } : each));
    this.#keys = new Map(keys.map((each) => [each.key, each]));
    this.#tokens = new Map(options.accessTokens.map((token) => [token, Number.POSITIVE_INFINITY]));
  }

  /**
   * Checks the credential of a call, and counts the call of a token.
   *
   * @param scope the scope that the call needs; undefined: none
   * @returns the acting user, or a refusal
   */
  check(headers: IncomingHttpHeaders, scope: string | undefined): Caller | Refusal {
    const key = headers['x-api-key'];
    if (typeof key === 'string') {
      const known = this.#keys.get(key);
      if (!known) return invalidKey;
      const isAllowed = scope === undefined || !known.scopes || known.scopes.includes(scope);
      return isAllowed ? { isToken: false, user: admin } : inaccessible;
    }
    if (headers.authorization === undefined) return missingCredential;
    // Rule 1: a key is refused as a bearer token.
    const token = /^Bearer (.+)$/i.exec(headers.authorization)?.[1] ?? '';
    const left = this.#tokens.get(token) ?? 0;
    if (left <= 0) return invalidToken;
    this.#tokens.set(token, left - 1);
    return { isToken: true, user: granting };
  }

  /** Issues an access token in the service's format (JWT). */
  issue(): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { sub: granting.id, iat: Math.floor(this.#options.now() / 1_000) };
    const signature = randomBytes(32).toString('base64url');
    const token = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}.${signature}`;
    this.#tokens.set(token, this.#options.tokenCalls ?? Number.POSITIVE_INFINITY);
    return token;
  }
}
