/** A column of `organizations`, and the member of the facts about a company that has its value. */
interface OrganizationColumn {
  readonly name: string;
  readonly type: 'text' | 'text[]' | 'integer' | 'numeric';
  /** Without it, the member has the name of the column. */
  readonly member?: string;
}

/** Columns of `organizations` with values of the newest answer about a company. */
export const organizationColumns: readonly OrganizationColumn[] = [
  { name: 'organization_id', type: 'text', member: 'id' },
  { name: 'name', type: 'text' },
  { name: 'domain', type: 'text' },
  { name: 'website_url', type: 'text' },
  { name: 'linkedin_url', type: 'text', member: 'proflink_url' },
  { name: 'microblog_url', type: 'text' },
  { name: 'socialnet_url', type: 'text' },
  { name: 'logo_url', type: 'text' },
  { name: 'industry', type: 'text' },
  { name: 'industries', type: 'text[]' },
  { name: 'secondary_industries', type: 'text[]' },
  { name: 'keywords', type: 'text[]' },
  { name: 'technologies', type: 'text[]', member: 'technology_names' },
  { name: 'employees', type: 'integer', member: 'estimated_num_employees' },
  { name: 'founded_year', type: 'integer' },
  { name: 'annual_revenue', type: 'numeric' },
  { name: 'annual_revenue_printed', type: 'text' },
  { name: 'total_funding', type: 'numeric' },
  { name: 'total_funding_printed', type: 'text' },
  { name: 'latest_funding_stage', type: 'text' },
  { name: 'latest_funding_round_date', type: 'text' },
  { name: 'raw_address', type: 'text' },
  { name: 'street_address', type: 'text' },
  { name: 'city', type: 'text' },
  { name: 'state', type: 'text' },
  { name: 'postal_code', type: 'text' },
  { name: 'country', type: 'text' },
  { name: 'short_description', type: 'text' },
  { name: 'seo_description', type: 'text' },
  { name: 'phone', type: 'text' },
];

/** Whether the view `organizations` reads the column from the facts. The table `organization_values` has the others. */
export function isList({ type }: OrganizationColumn): boolean {
  return type === 'text[]';
}
