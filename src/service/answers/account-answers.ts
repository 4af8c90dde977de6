import { z } from 'zod';
import { readAnswer } from './answer.ts';
import { readJson } from './exact-json.ts';
import type { Endpoint } from '../failures/failure.ts';
import { flag, text } from './schemas/field.ts';
import type { HttpAnswer } from '../transport.ts';

const healthSchema = z.looseObject({ is_logged_in: flag, healthy: flag });

/**
 * Whether the credential works. The interface document does not show the body, so every success that is no
 * web page means yes, unless `is_logged_in` or `healthy`, both observed, is false. Pure.
 *
 * @throws ServiceFailure
 */
export function readHealth(answer: HttpAnswer, endpoint: Endpoint): { readonly credentialWorks: boolean } {
  if (answer.status < 300 && isPlain(answer.body)) return { credentialWorks: true };
  const { data } = readAnswer(answer, endpoint, healthSchema);
  return { credentialWorks: data.is_logged_in !== false && data.healthy !== false };
}

function isPlain(body: Buffer): boolean {
  const value = readJson(body)?.value;
  return value === undefined ? !body.toString('utf8').trimStart().startsWith('<') : value === true;
}

/** The acting user, who owns what this credential creates. The interface document shows only the identifier. */
export interface User {
  readonly id: string;
  readonly name: string | undefined;
}

const userSchema = z
  .looseObject({ id: z.string(), name: text, first_name: text, last_name: text })
  .transform((user): User => {
    const parts = [user.first_name, user.last_name].filter((part) => typeof part === 'string');
    return {
      id: user.id,
      name: user.name ?? (parts.length > 0 ? parts.join(' ') : undefined),
    };
  });

export function readProfile(answer: HttpAnswer, endpoint: Endpoint): User {
  return readAnswer(answer, endpoint, userSchema).data;
}
