import type { Credential, Setting } from '../config/settings.ts';
import { Problem, exitCodes } from '../domain/problem.ts';
import { fitsHeader, readToken } from './read-token.ts';

/** The header that a credential is sent in. */
export type CredentialHeader = Readonly<Record<string, string>>;

/**
 * Where the header for a call comes from.
 *
 * @param refused a header that it gave, and that the service does not accept any more
 * @returns the refused header itself where there is no other
 * @throws UnreadableToken where there is none at the moment
 */
export type CredentialSource = (refused?: CredentialHeader) => Promise<CredentialHeader>;

/**
 * The source of a credential: a key or a token that is set stays what it is, one from a file or a command is read when
 * it is first needed, and again when it was refused.
 *
 * @throws Problem `service.no-credential`, `setting.invalid`
 */
export function credentialSource(credential: Credential | undefined): CredentialSource {
  if (credential === undefined) {
    throw new Problem('service.no-credential', 'no key for the service is set', {
      where: 'ENRICHMENT_API_KEY, ENRICHMENT_ACCESS_TOKEN',
      next: 'set one of them; without ENRICHMENT_BASE_URL the built-in sandbox is used, and brings its own',
      exitCode: exitCodes.usage,
    });
  }
  if (!('value' in credential)) return renewable(async () => bearer(await readToken(credential)));
  if (!fitsHeader(credential.value)) {
    throw new Problem('setting.invalid', 'the credential holds characters that no header can carry', {
      where: credentialSetting(credential),
      next: 'copy it again, without line ends and spaces',
      exitCode: exitCodes.usage,
    });
  }
  // Rule 1 of Authentication: a key as a bearer token is refused, so each kind has exactly one form.
  const header = credential.kind === 'api-key' ? { 'x-api-key': credential.value } : bearer(credential.value);
  return () => Promise.resolve(header);
}

/** Keeps what was read until it is refused. Calls that need it at the same time cause one reading. */
function renewable(read: () => Promise<CredentialHeader>): CredentialSource {
  let kept: CredentialHeader | undefined;
  let reading: Promise<CredentialHeader> | undefined;
  return async (refused) => {
    // By identity, not by text: calls that were refused late, with what another call has already replaced, read
    // nothing.
    if (kept === refused) kept = undefined;
    if (kept === undefined) {
      reading ??= read().finally(() => (reading = undefined));
      kept = await reading;
    }
    return refused !== undefined && refused['authorization'] === kept['authorization'] ? refused : kept;
  };
}

/** The setting that a credential comes from, for advice. */
export function credentialSetting(credential: Credential): Setting {
  if (credential.kind === 'api-key') return 'ENRICHMENT_API_KEY';
  if ('file' in credential) return 'ENRICHMENT_ACCESS_TOKEN_FILE';
  return 'command' in credential ? 'ENRICHMENT_ACCESS_TOKEN_COMMAND' : 'ENRICHMENT_ACCESS_TOKEN';
}

function bearer(token: string): CredentialHeader {
  return { authorization: `Bearer ${token}` };
}
