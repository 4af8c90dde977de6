import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { invalidKey, invalidToken, missingCredential, type Refusal } from './refusals.ts';

/** The default key. It gives access only to invented people. */
export const defaultApiKey = 'sandbox-key';

export interface Caller {
  readonly isToken: boolean;
  /** The profile of the acting user. */
  readonly user: object;
}

/** Rule 4: a key acts as the earliest-created user who is an admin and not deleted. */
const admin = { id: '5b00000000000000000000a1', first_name: 'Mina', last_name: 'Clarke', is_admin: true };
/** Rule 5: a token acts as the user who granted it. */
const granting = { ...admin, id: '5b00000000000000000000b1', first_name: 'Greta', is_admin: false };

/** Checks credentials by the rules of "Authentication" in the interface document. */
export class Credentials {
  readonly #apiKey: string;
  readonly #callsPerToken: number;
  /** Calls that are left of each token. */
  readonly #tokens = new Map<string, number>();

  constructor(apiKey: string, callsPerToken: number) {
    this.#apiKey = apiKey;
    this.#callsPerToken = callsPerToken;
  }

  /** Checks the credential of a call, and counts the call of a token. */
  check({ 'x-api-key': key, authorization }: IncomingHttpHeaders): Caller | Refusal {
    if (key !== undefined) return key === this.#apiKey ? { isToken: false, user: admin } : invalidKey;
    if (authorization === undefined) return missingCredential;
    // Rule 1: a key is refused as a bearer token.
    const token = /^Bearer (.+)$/i.exec(authorization)?.[1] ?? '';
    const left = this.#tokens.get(token) ?? 0;
    if (left <= 0) return invalidToken;
    this.#tokens.set(token, left - 1);
    return { isToken: true, user: granting };
  }

  /** Issues an access token in the service's format (JWT). */
  issue(): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { sub: granting.id, iat: Math.floor(Date.now() / 1_000) };
    const signature = randomBytes(32).toString('base64url');
    const token = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}.${signature}`;
    this.#tokens.set(token, this.#callsPerToken);
    return token;
  }
}
