import { z } from 'zod';

const said = (description: string) => z.string().optional().meta({ description });
const asFlag = (description: string) => z.enum(['true', 'false']).default('false').meta({ description });

/** One person as asked for: any of these strings; none is required. */
const askedSchema = z.object({
  first_name: said('with last_name'),
  last_name: said('with first_name'),
  name: said('full name; makes first_name and last_name unnecessary'),
  email: said('email address'),
  hashed_email: said('MD5 or SHA-256 hash of the email'),
  organization_name: said('current or previous employer'),
  domain: said('domain of the employer, without www. or @'),
  id: said('identifier of the person; person_id of people search'),
  proflink_url: said('profile URL'),
});

/** What applies to everybody in a call of people enrichment. */
export const extrasSchema = z.object({
  run_waterfall_email: asFlag('ask connected vendors for addresses; they come to webhook_url'),
  run_waterfall_phone: asFlag('ask connected vendors for phones; they come to webhook_url'),
  reveal_personal_emails: asFlag('personal addresses too'),
  reveal_phone_number: asFlag('phones too; they come to webhook_url'),
  webhook_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description:
        'required with phones and waterfalls, which are refused with 422 without it. The sandbox takes http as well: it delivers to your machine',
    }),
});

export type Extras = z.infer<typeof extrasSchema>;

export const matchQuerySchema = z.object({ ...askedSchema.shape, ...extrasSchema.shape });

/** Read without its bounds: outside of them the answer is a 400 of its own. */
export const bulkBodySchema = z
  .object({
    details: z
      .array(askedSchema)
      .default([])
      .meta({ description: 'one for each person', minItems: 1, maxItems: 10 }),
  })
  .meta({ required: ['details'] });

/** Query texts are numbers too: `page=2`. */
const pageNumber = z.coerce.number<number | string>().pipe(z.int().min(1)).default(1);
const pageSize = z.coerce.number<number | string>().pipe(z.int().min(1).max(100)).default(25);

export const pageSchema = z.object({ page: pageNumber, per_page: pageSize });

/** The document names no filters; these two are the sandbox's, and others are passed over. */
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
