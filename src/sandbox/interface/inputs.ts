import { z } from 'zod';
import {
  lateParameterNames,
  lateParameters,
  type LateParameterName,
} from '../late-results/late-parameters.ts';

const input = (description: string) => z.string().optional().meta({ description });
const asFlag = (description: string) => z.enum(['true', 'false']).default('false').meta({ description });

/** One person of a call; all strings are optional. */
const askedSchema = z.object({
  first_name: input('with last_name'),
  last_name: input('with first_name'),
  name: input('full name; makes first_name and last_name unnecessary'),
  email: input('email address'),
  hashed_email: input('MD5 or SHA-256 hash of the email'),
  organization_name: input('current or previous employer'),
  domain: input('domain of the employer, without www. or @'),
  id: input('identifier of the person; person_id of people search'),
  proflink_url: input('profile URL'),
});

const lateFlags = Object.fromEntries(
  lateParameterNames.map((name) => [name, asFlag(lateParameters[name].description)]),
) as Record<LateParameterName, ReturnType<typeof asFlag>>;

/** Parameters that apply to every person of a call. */
export const extrasSchema = z.object({
  ...lateFlags,
  reveal_personal_emails: asFlag('include personal addresses'),
  webhook_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description:
        'required with phones and waterfalls (422 without it). The sandbox also accepts http, ' +
        'because it delivers to this machine',
    }),
});

export type Extras = z.infer<typeof extrasSchema>;

export const matchQuerySchema = z.object({ ...askedSchema.shape, ...extrasSchema.shape });

/** Has no length check, because a wrong number of people has a 400 of its own. */
export const bulkBodySchema = z
  .object({
    details: z
      .array(askedSchema)
      .default([])
      .meta({ description: 'one for each person', minItems: 1, maxItems: 10 }),
  })
  .meta({ required: ['details'] });

/** Accepts numbers as text: `page=2`. */
const pageNumber = z.coerce.number<number | string>().pipe(z.int().min(1)).default(1);
const pageSize = z.coerce.number<number | string>().pipe(z.int().min(1).max(100)).default(25);

export const pageSchema = z.object({ page: pageNumber, per_page: pageSize });

/** The interface document names no filters; these two are the sandbox's, and others are ignored. */
export const searchBodySchema = z.object({
  ...pageSchema.shape,
  person_titles: z.array(z.string()).optional().meta({ description: 'any of these titles' }),
  organization_domains: z.array(z.string()).optional().meta({ description: 'at any of these employers' }),
});

export const organizationQuerySchema = z.object({
  domain: z.string().min(1).meta({ description: 'of the company, without www. or @' }),
});

export const pollParametersSchema = z.object({
  request_id: z
    .string()
    .meta({ description: 'as the answer has it: a signed 64-bit number', pattern: '^-?[0-9]{1,19}$' }),
});
