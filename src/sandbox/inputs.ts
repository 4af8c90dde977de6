import { z } from 'zod';

const text = z.string().optional();

/** One person as asked for: any of these strings; none is required. */
export const askedSchema = z.object({
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

export const bulkBodySchema = z.object({ details: z.array(askedSchema).default([]) });
