import type { Credential } from '../config.ts';
import { Problem, exitCodes } from '../domain/problem.ts';

/**
 * The header that a credential is sent in.
 *
 * Rule 1 of Authentication: a key as a bearer token is refused, so each kind has exactly one form.
 *
 * @throws Problem `service.no-credential`, `setting.invalid`
 */
export function credentialHeader(credential: Credential | undefined): Readonly<Record<string, string>> {
  if (credential === undefined) {
    throw new Problem('service.no-credential', 'no key for the service is set', {
      where: 'ENRICHMENT_API_KEY, ENRICHMENT_ACCESS_TOKEN',
      next: 'set one of them; without ENRICHMENT_BASE_URL the built-in sandbox is used, and brings its own',
      exitCode: exitCodes.usage,
    });
  }
  if (!/^[\x21-\x7e]+$/.test(credential.value)) {
    throw new Problem('setting.invalid', 'the credential holds characters that no header can carry', {
      where: credential.kind === 'api-key' ? 'ENRICHMENT_API_KEY' : 'ENRICHMENT_ACCESS_TOKEN',
      next: 'copy it again, without line ends and spaces',
      exitCode: exitCodes.usage,
    });
  }
  return credential.kind === 'api-key'
    ? { 'x-api-key': credential.value }
    : { authorization: `Bearer ${credential.value}` };
}
