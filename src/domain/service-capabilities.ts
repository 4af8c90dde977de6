/** Facts about a kind of result that arrives after the answer. */
interface LateFacts {
  /** The option of a run that requests this kind. The next field is the value of the option. */
  readonly option: 'reveal' | 'waterfall';
  readonly entry: string;
  /** The query parameter of a call that requests this kind. */
  readonly parameter: string;
  readonly deliveredBy: string;
  /** The list of values that a person in such a delivery has. */
  readonly values: 'phones' | 'emails';
}

interface DeliveryFacts {
  /** True if deliveries have the ids of the answer, and a complete body counts the people without results. */
  readonly keepsIds: boolean;
  /** Value of `origin` for the delivered phone numbers. */
  readonly phoneOrigin: string;
  /** Value of `kind` for the delivered e-mails; null if these deliveries contain no e-mails. */
  readonly emailOrigin: string | null;
  /** True if vendors set the price, also of a search without results, or of a whole request if its answer has none. */
  readonly isPricedByVendors: boolean;
  /** Name of the credits of these deliveries in a report. */
  readonly creditsName: string;
}

interface ServiceCapabilities {
  /** Maximum number of people of a bulk call. */
  readonly peoplePerCall: number;
  /** Prices in whole credits. `mobilePhone` is billed in addition to `record` if a mobile phone is returned. */
  readonly prices: { readonly record: number; readonly mobilePhone: number };
  /** Rate scopes: the service counts the calls of a scope together. Each scope has its own rate windows. */
  readonly scopes: { readonly bulkMatch: string; readonly match: string; readonly poll: string };
  /** Seconds for which the service keeps results. Afterwards no late result can arrive. */
  readonly resultsKeptSeconds: number;
  readonly lateKinds: Readonly<Record<string, LateFacts>>;
  readonly deliveryKinds: Readonly<Record<string, DeliveryFacts>>;
}

/**
 * What the product knows about the service, except for the wire format, which only `src/service` knows. The values come
 * from the service's interface document (docs/reference/interface.md). A second service would have other values
 * (docs/explanation/second-service.md).
 */
export const serviceCapabilities = {
  peoplePerCall: 10,
  prices: { record: 1, mobilePhone: 8 },
  scopes: { bulkMatch: 'people/bulk_match', match: 'people/match', poll: 'webhook_result' },
  resultsKeptSeconds: 30 * 86_400,
  lateKinds: {
    phone: {
      option: 'reveal',
      entry: 'phone',
      parameter: 'reveal_phone_number',
      deliveredBy: 'phones',
      values: 'phones',
    },
    waterfall_email: {
      option: 'waterfall',
      entry: 'email',
      parameter: 'run_waterfall_email',
      deliveredBy: 'waterfall',
      values: 'emails',
    },
    waterfall_phone: {
      option: 'waterfall',
      entry: 'phone',
      parameter: 'run_waterfall_phone',
      deliveredBy: 'waterfall',
      values: 'phones',
    },
  },
  deliveryKinds: {
    phones: {
      keepsIds: true,
      phoneOrigin: 'reveal',
      emailOrigin: null,
      isPricedByVendors: false,
      creditsName: 'phones',
    },
    waterfall: {
      keepsIds: false,
      phoneOrigin: 'waterfall',
      emailOrigin: 'waterfall',
      isPricedByVendors: true,
      creditsName: 'waterfalls',
    },
  },
} as const satisfies ServiceCapabilities;
