import { createHash, randomBytes } from 'node:crypto';

/**
 * Creates the secret part of an attempt's webhook address: 256 random bits in 43 characters.
 */
export function newWebhookToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Hashes a webhook token. The database stores only the hash. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
