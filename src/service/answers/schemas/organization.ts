import { z } from 'zod';
import { companyFields } from './company.ts';
import { flag, list, map, number, text, texts, unseen, type ColumnsOf } from './field.ts';

export interface FundingEvent {
  readonly id?: string | null;
  readonly date?: string | null;
  readonly news_url?: string | null;
  readonly type?: string | null;
  /** Comma-separated. */
  readonly investors?: string | null;
  /** Abbreviated, such as `12M`. */
  readonly amount?: string | null;
  readonly currency?: string | null;
}

export interface Technology {
  readonly uid?: string | null;
  readonly name?: string | null;
  readonly category?: string | null;
}

/** A company: nine tenths of the bytes of a person. */
export const organizationSchema = z.looseObject({
  ...companyFields,
  phone: unseen,
  owned_by_organization_id: unseen,
  secondary_industries: texts,
  suborganizations: list(),
  estimated_num_employees: number,
  retail_location_count: number,
  num_suborganizations: number,
  annual_revenue: number,
  total_funding: number,
  annual_revenue_printed: text,
  total_funding_printed: text,
  industry: text,
  industries: texts,
  keywords: texts,
  technology_names: texts,
  org_chart_root_people_ids: texts,
  industry_tag_id: text,
  industry_tag_hash: map<string>(),
  snippets_loaded: flag,
  org_chart_removed: flag,
  org_chart_show_department_filter: flag,
  raw_address: text,
  street_address: text,
  city: text,
  state: text,
  postal_code: text,
  country: text,
  seo_description: text,
  short_description: text,
  latest_funding_round_date: text,
  latest_funding_stage: text,
  funding_events: list<FundingEvent>(),
  current_technologies: list<Technology>(),
  org_chart_sector: text,
} satisfies ColumnsOf<'employer'>);
