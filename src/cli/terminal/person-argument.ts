import { Problem, exitCodes } from '../../domain/problem.ts';
import { parseSuppressionSubject, type SuppressionSubject } from '../../domain/identity/suppression.ts';

/** How a person is named on the command line; for help texts. */
export const waysToNameSomebody =
  `WHO is an email address; the URL of a profile; person: and the service's id; an ` +
  'MD5 or ' +
  'SHA-256 of ' +
  'an address.';

/**
 * Reads whom a command is about.
 *
 * @throws Problem `person.unclear`; it does not repeat what was written, which is personal data
 */
export function subjectOf(text: string, place: number): SuppressionSubject {
  const subject = parseSuppressionSubject(text);
  if (subject) return subject;
  throw new Problem('person.unclear', 'this names nobody', {
    where: `argument ${place}`,
    next: 'write an email address, the URL of a profile, person:ID, a hashed address, or @domain',
    exitCode: exitCodes.usage,
  });
}
