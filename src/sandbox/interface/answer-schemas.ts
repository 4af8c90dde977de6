import { z } from 'zod';
import { matchSchema, personSchema, searchedPersonSchema } from './person-schema.ts';
import { organizationSchema } from './organization-schema.ts';

/** A JSON parser rounds it: read it from the text. */
const requestId = z.number().meta({
  type: 'integer',
  format: 'int64',
  description: 'signed 64-bit, beyond what double-precision parsers keep exactly',
});
const credits = z.number().min(0).optional().meta({ description: 'absent on waterfall requests' });
const count = z.int().min(0);

const waterfall = z
  .object({ status: z.enum(['accepted', 'partial_accepted', 'failed']), message: z.string() })
  .optional();
const phoneEnrichment = z
  .object({ request_id: requestId, status: z.enum(['pending', 'skipped', 'failed']) })
  .optional()
  .meta({ description: 'its request_id cannot be polled' });

export const matchAnswerSchema = z.object({
  person: personSchema.nullable(),
  phone_enrichment: phoneEnrichment,
  waterfall,
  request_id: requestId,
});

export const bulkAnswerSchema = z.object({
  status: z.string(),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  total_requested_enrichments: count,
  unique_enriched_records: count,
  missing_records: count,
  credits_consumed: credits,
  phone_enrichment: phoneEnrichment,
  waterfall,
  request_id: requestId,
  matches: z.array(matchSchema.nullable()),
});

export const healthSchema = z.object({ healthy: z.boolean(), is_logged_in: z.boolean() });

/** A user; the interface document shows only `id`. */
export const userSchema = z.object({
  id: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  created_at: z.string(),
  is_admin: z.boolean(),
  deleted: z.boolean(),
});

const pagination = z.object({ page: count, per_page: count, total_entries: count, total_pages: count });

export const usersAnswerSchema = z.object({ users: z.array(userSchema), pagination });
export const searchAnswerSchema = z.object({ people: z.array(searchedPersonSchema), pagination });
export const organizationAnswerSchema = z.object({ organization: organizationSchema.nullable() });

const usage = z.object({
  limit: z.number().nullable().meta({ description: 'null: unlimited' }),
  consumed: z.number(),
  left_over: z.number().nullable(),
});

/** Keys such as `["api/v1/people", "bulk_match"]`. */
export const apiUsageSchema = z.record(z.string(), z.object({ minute: usage, hour: usage, day: usage }));

export const creditUsageSchema = z.object({
  credit_usage_stats: z.record(z.string(), usage),
  current_credit_cycle: z.object({ start_date: z.string(), end_date: z.string() }),
});

export const pollAnswerSchema = z.object({
  request_id: requestId,
  webhook_status: z.enum(['in_progress', 'success', 'failed']).meta({ description: 'of the delivery' }),
  request_type: z.string(),
  last_dispatched_at: z.string().nullable(),
  failure_reason: z.string().nullable(),
  webhook_result: z.unknown().meta({ description: 'the body of the delivery' }),
});

const errorDetails = z.object({
  code: z.string().meta({ description: 'DOMAIN.CATEGORY.REASON: what clients branch on' }),
  message: z.string().meta({ description: 'for people; its wording can change' }),
  suggestions: z.array(
    z.object({
      label: z.string(),
      url: z.string().optional(),
      parameter: z.string().optional(),
      parameters: z.array(z.string()).optional(),
      header: z.string().optional(),
      example: z.string().optional(),
      retry_after_seconds: z.number().optional(),
    }),
  ),
  context: z.record(z.string(), z.object({ value: z.string(), description: z.string() })).optional(),
});

/** Root-level members end on 16 February 2027; some endpoints already have only `error_details`. */
export const errorSchema = z.object({
  error: z.string().optional(),
  error_code: z.string().optional(),
  message: z.string().optional(),
  status: z.string().optional(),
  error_message: z.string().optional(),
  retry_after_seconds: z.number().optional(),
  error_details: errorDetails.optional(),
});
