import { createHash, randomBytes } from 'node:crypto';

/**
 * The unguessable part of the address to which the later results of one attempt are delivered: 256 bits, in 43
 * characters.
 */
export function newWebhookToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The only form in which a webhook token is stored. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
