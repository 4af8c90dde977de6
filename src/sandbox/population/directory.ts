import type { Incoming } from '../server/call-handler.ts';
import type { ProcessedCall } from '../server/processed-call.ts';
import type { Refusal } from '../faults/failures.ts';
import { organizationQuerySchema, searchBodySchema } from '../interface/inputs.ts';
import { pageOf, pagination } from '../server/pages.ts';
import { parseJson } from '../server/parse-json.ts';
import type { Population } from './population.ts';
import { invalid, missingParameter } from '../faults/refusals.ts';
import type { Renderer } from './render.ts';
import type { Rule } from '../faults/scenario.ts';

/** People search and company enrichment, which are free because the price table does not name them. */
export class Directory {
  readonly #population: Population;
  readonly #renderer: Renderer;

  constructor(population: Population, renderer: Renderer) {
    this.#population = population;
    this.#renderer = renderer;
  }

  /** POST /mixed_people/search: the numbered people, page by page. */
  searchPeople({ body }: Incoming, fault: Rule): ProcessedCall | Refusal {
    const search = searchBodySchema.safeParse(body === '' ? {} : parseJson(body));
    if (!search.success) return invalid(search.error);
    const { count, at } = this.#population.search(search.data);
    const people = pageOf(search.data, at)
      .filter((known) => known !== undefined)
      .map((known) => this.#renderer.person(known, { endpoint: 'search', bytes: fault.person_bytes }));
    const page = JSON.stringify(pagination(search.data, count));
    return { body: `{"people":[${people.join(',')}],"pagination":${page}}` };
  }

  /** GET /organizations/enrich: by domain. Its 422 has only `error_details`, before the cut-over too. */
  enrichOrganization({ query }: Incoming, fault: Rule): ProcessedCall | Refusal {
    const asked = organizationQuerySchema.safeParse(query);
    if (!asked.success) return missingParameter('domain', 'to find a company');
    const organization = this.#population.organization(asked.data.domain);
    const text = organization ? this.#renderer.organization(organization, fault.person_bytes) : 'null';
    return { body: `{"organization":${text}}` };
  }
}
