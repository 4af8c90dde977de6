import { parseProfileUrl } from '../../domain/identity/profile-url.ts';
import { UsageProblem } from '../../domain/problem.ts';
import { withoutPersonalData } from '../../telemetry/log.ts';

/**
 * Returns a text unchanged that the warehouse keeps or Temporal shows. An erasure does not change such texts, so they
 * must not name a person.
 *
 * @param what the text, as the error names it
 * @throws Problem `setting.invalid` if the text has an e-mail address, a profile URL, a phone number or a login
 */
export function withoutPerson(
  text: string,
  { what, where, next }: { readonly what: string; readonly where: string; readonly next: string },
): string {
  if (!namesPerson(text)) return text;
  throw new UsageProblem('setting.invalid', `${what} seems to name a person`, { where, next });
}

/** A pattern of SQL for all addresses of a domain, such as `%@acme.example`, names no person. */
const anyAddress = /(?<![^\s'"])%@/g;

function namesPerson(text: string): boolean {
  const named = text.replace(anyAddress, '');
  return (
    withoutPersonalData(named) !== named ||
    named.split(/[\s'"<>(),;=]+/).some((word) => parseProfileUrl(word) !== undefined)
  );
}
