import { z } from 'zod';
import { lateParameterNames, type LateParameterName } from '../late-results/late-parameters.ts';

const text = z.string().optional();
const flag = z.enum(['true', 'false']).default('false');

/** The identity of one person: an element of `details`, or the query of people/match. */
const askedSchema = z.object({
  first_name: text,
  last_name: text,
  name: text,
  email: text,
  hashed_email: text,
  organization_name: text,
  domain: text,
  id: text,
  proflink_url: text,
});

export type AskedPerson = Readonly<z.infer<typeof askedSchema>>;

const lateFlags = Object.fromEntries(lateParameterNames.map((name) => [name, flag])) as Record<
  LateParameterName,
  typeof flag
>;

/** Parameters that apply to every person of a call. */
export const extrasSchema = z.object({
  ...lateFlags,
  reveal_personal_emails: flag,
  /** The sandbox also accepts http, because it delivers to this machine. */
  webhook_url: z.url({ protocol: /^https?$/ }).optional(),
});

export type Extras = z.infer<typeof extrasSchema>;

export const matchQuerySchema = z.object({ ...askedSchema.shape, ...extrasSchema.shape });

/** Has no length check, because a wrong number of people has a 400 of its own. */
export const bulkBodySchema = z.object({ details: z.array(askedSchema).default([]) });

export const pollParametersSchema = z.object({ request_id: z.string() });
