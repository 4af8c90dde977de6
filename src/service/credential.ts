import type { Credential } from '../config/settings.ts';
import type { Setting } from '../config/settings-schema.ts';
import { UsageProblem } from '../domain/problem.ts';
import { fitsHeader, readToken } from './read-token.ts';

export type CredentialHeader = Readonly<Record<string, string>>;

/**
 * Returns the header of a call.
 *
 * @param refused a header that it returned earlier and that the service has refused
 * @returns the refused header itself if there is no other
 * @throws UnreadableToken
 */
export type CredentialSource = (refused?: CredentialHeader) => Promise<CredentialHeader>;

/**
 * Creates the source of a credential. A key or token in a setting is constant. A token in a file or from a
 * command is read before the first call, and again after the service has refused it.
 *
 * @throws Problem `service.no-credential`, `setting.invalid`
 */
export function credentialSource(credential: Credential | undefined): CredentialSource {
  if (credential === undefined) {
    throw new UsageProblem('service.no-credential', 'the credential for the service is missing', {
      where: 'ENRICHMENT_API_KEY, ENRICHMENT_ACCESS_TOKEN',
      next: 'set one of the two; without ENRICHMENT_BASE_URL the built-in sandbox runs and needs no credential',
    });
  }
  if (!('value' in credential)) return renewable(async () => bearer(await readToken(credential)));
  if (!fitsHeader(credential.value)) {
    throw new UsageProblem(
      'setting.invalid',
      'the credential has characters that are not allowed in an HTTP header',
      {
        where: credentialSetting(credential),
        next: 'copy the credential again, without spaces and line breaks',
      },
    );
  }
  // The interface document, Authentication, rule 1: the service refuses a key as a bearer token.
  const header = credential.kind === 'api-key' ? { 'x-api-key': credential.value } : bearer(credential.value);
  return () => Promise.resolve(header);
}

/** Caches the header until the service refuses it. Concurrent calls share one read. */
function renewable(read: () => Promise<CredentialHeader>): CredentialSource {
  let kept: CredentialHeader | undefined;
  let reading: Promise<CredentialHeader> | undefined;
  return async (refused) => {
    // Compared by identity: a late refusal of a header that another call has replaced must not cause a read.
    if (kept === refused) kept = undefined;
    if (kept === undefined) {
      reading ??= read().finally(() => (reading = undefined));
      kept = await reading;
    }
    return refused !== undefined && refused['authorization'] === kept['authorization'] ? refused : kept;
  };
}

/** The setting that holds a credential, to name in advice. */
export function credentialSetting(credential: Credential): Setting {
  if (credential.kind === 'api-key') return 'ENRICHMENT_API_KEY';
  if ('file' in credential) return 'ENRICHMENT_ACCESS_TOKEN_FILE';
  return 'command' in credential ? 'ENRICHMENT_ACCESS_TOKEN_COMMAND' : 'ENRICHMENT_ACCESS_TOKEN';
}

function bearer(token: string): CredentialHeader {
  return { authorization: `Bearer ${token}` };
}
