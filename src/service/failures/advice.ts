import { z } from 'zod';

/** A safe name of a parameter or a header. */
const name = /^[\w.[\]-]{1,60}$/;
/** Addresses and long numbers can be personal data. */
const looksPersonal = /@|\d{5,}/;
const longestText = 200;
/** Advice may contain short parts of a key such as `team-key`; the secret parts of a key are longer. */
const shortestSecret = 8;

export const seconds = z
  .union([
    z.number().nonnegative(),
    z
      .string()
      .regex(/^\d{1,9}(?:\.\d+)?$/)
      .transform(Number),
  ])
  .optional()
  .catch(undefined);
const line = z.string().max(1_000).optional().catch(undefined);

export const suggestion = z.looseObject({
  label: line,
  parameter: line,
  header: line,
  retry_after_seconds: seconds,
});

/** A next step in the service's words. People read it; code never branches on it. */
export type Suggestion = z.infer<typeof suggestion>;

export interface Sent {
  /** Everything that the request says about people. */
  readonly texts: readonly string[];
  readonly credential: readonly string[];
}

/** Returns a condition on a text: it quotes a request, in whole or by a word. Pure. */
export function quotes({ texts, credential }: Sent): (text: string) => boolean {
  const secret = new Set([
    ...texts.flatMap(wordsOf),
    ...credential.flatMap(wordsOf).filter((word) => word.length >= shortestSecret),
  ]);
  const complete = [...texts, ...credential].filter((text) => text.length > 1);
  return (text) =>
    complete.some((each) => text.includes(each)) || wordsOf(text).some((word) => secret.has(word));
}

/**
 * The service's next steps as text, without those that quote the request: services may name the person or the key that
 * they refuse. Pure.
 */
export function adviceOf(suggestions: readonly Suggestion[], sent: Sent): string[] {
  const isQuote = quotes(sent);
  const isSafe = (text: string | undefined): text is string =>
    text !== undefined && text.length <= longestText && !looksPersonal.test(text) && !isQuote(text);
  return suggestions.flatMap(({ label, parameter, header }) => {
    const subject = [parameter, header].find((each) => isSafe(each) && name.test(each));
    return isSafe(label) ? [subject === undefined ? label : `${label} (${subject})`] : [];
  });
}

/** Words of names and addresses, without single letters. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 1);
}
