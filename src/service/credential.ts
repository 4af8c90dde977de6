import { exec } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Credential, AccessTokenOrigin } from '../config/settings.ts';
import type { Setting } from '../config/settings-schema.ts';
import { UsageProblem } from '../domain/problem.ts';
import { commandEnvironment } from '../config/command-environment.ts';
import { ServiceFailure, type Endpoint } from './failures/failure.ts';

export type CredentialHeader = Readonly<Record<string, string>>;

/** Returns the header of a call; `refused` itself if there is no other. @throws ServiceFailure `not-sent.no-token` */
export type CredentialSource = (endpoint: Endpoint, refused?: CredentialHeader) => Promise<CredentialHeader>;

/** Creates the source of a credential. @throws Problem `service.no-credential`, `setting.invalid` */
export function createCredentialSource(credential: Credential | undefined): CredentialSource {
  if (credential === undefined) {
    throw new UsageProblem('service.no-credential', 'the credential for the service is missing', {
      where: 'ENRICHMENT_API_KEY, ENRICHMENT_ACCESS_TOKEN',
      next: 'set one of the two; without ENRICHMENT_BASE_URL the built-in sandbox runs and needs no credential',
    });
  }
  if (!('value' in credential)) return renewable(credential);
  if (!fitsHeader(credential.value)) {
    const what = 'the credential has characters that are not allowed in an HTTP header';
    throw new UsageProblem('setting.invalid', what, {
      where: settingOfCredential(credential),
      next: 'copy the credential again, without spaces and line breaks',
    });
  }
  // The service refuses a key that is sent as bearer token (interface document, Authentication, rule 1).
  const header = credential.kind === 'api-key' ? { 'x-api-key': credential.value } : bearer(credential.value);
  return () => Promise.resolve(header);
}

/** Caches the header until the service refuses it. Concurrent calls share one read. */
function renewable(origin: AccessTokenOrigin): CredentialSource {
  let kept: CredentialHeader | undefined;
  let reading: Promise<CredentialHeader> | undefined;
  return async (endpoint, refused) => {
    // Headers are compared by identity: a late refusal of a replaced header must not cause a new read.
    if (kept === refused) kept = undefined;
    if (kept === undefined) {
      reading ??= readToken(origin, endpoint).finally(() => (reading = undefined));
      kept = await reading;
    }
    return refused !== undefined && refused['authorization'] === kept['authorization'] ? refused : kept;
  };
}

export function settingOfCredential(credential: Credential): Setting {
  if (credential.kind === 'api-key') return 'ENRICHMENT_API_KEY';
  if ('file' in credential) return 'ENRICHMENT_ACCESS_TOKEN_FILE';
  return 'command' in credential ? 'ENRICHMENT_ACCESS_TOKEN_COMMAND' : 'ENRICHMENT_ACCESS_TOKEN';
}

function bearer(token: string): CredentialHeader {
  return { authorization: `Bearer ${token}` };
}

/** Maximum time of a command that prints a token. A slower command waits for input. */
const commandMilliseconds = 10_000;
const commandBytes = 64 * 1_024;

/** Reads an access token from its file or its command. Errors quote nothing, because it could be the token. */
async function readToken(origin: AccessTokenOrigin, endpoint: Endpoint): Promise<CredentialHeader> {
  const failure = (code: string) => new ServiceFailure('not-sent.no-token', { endpoint, codes: [code] });
  // The standard error of the command is discarded, because it can quote credentials.
  const reading =
    'file' in origin
      ? readFile(origin.file, 'utf8')
      : promisify(exec)(origin.command, {
          timeout: commandMilliseconds,
          maxBuffer: commandBytes,
          windowsHide: true,
          env: commandEnvironment(),
        }).then(({ stdout }) => stdout);
  const text = await reading.catch((error: unknown) => {
    throw failure(codeOf(error));
  });
  const token = text.trim();
  if (!fitsHeader(token)) throw failure('NO_TOKEN');
  return bearer(token);
}

/** True for printable ASCII without spaces. */
function fitsHeader(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** Names an error without quoting it: `ENOENT`, `TIMEOUT`, `EXIT_1` or `UNREADABLE`. */
function codeOf(error: unknown): string {
  const { code, killed } = error as { code?: unknown; killed?: unknown };
  if (typeof code === 'string') return code;
  if (killed === true) return 'TIMEOUT';
  return typeof code === 'number' ? `EXIT_${code}` : 'UNREADABLE';
}
