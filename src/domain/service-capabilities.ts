/** A kind of results that arrive after an answer. */
interface LateFacts {
  /** The option of a run, and its entry, that ask for this kind. */
  readonly option: 'reveal' | 'waterfall';
  readonly entry: string;
  /** The query parameter of a call that asks for this kind. */
  readonly parameter: string;
  readonly deliveredBy: string;
  /** The list of values that a delivered person has. */
  readonly values: 'phones' | 'emails';
}

interface DeliveryFacts {
  /** People have the same ids as in the answer, and a complete body counts those without results. */
  readonly keepsIds: boolean;
  /** `origin` of the delivered numbers. */
  readonly phoneOrigin: string;
  /** `kind` of the delivered e-mails; null: the delivery has none. */
  readonly emailOrigin: string | null;
  /** Vendors can bill a search that finds nothing, and state the price of the whole request if the answer has none. */
  readonly isPricedByVendors: boolean;
  /** The credits of these deliveries in a report. */
  readonly creditsName: string;
}

interface ServiceCapabilities {
  /** Maximum number of people of a bulk call. */
  readonly peoplePerCall: number;
  /** Whole credits. `mobilePhone` is billed on top of `record`, if a mobile phone is returned. */
  readonly prices: { readonly record: number; readonly mobilePhone: number };
  /** Endpoints whose calls the service counts together, each in windows of its own. */
  readonly scopes: { readonly bulkMatch: string; readonly match: string; readonly poll: string };
  /** Later no result can arrive. */
  readonly resultsKeptSeconds: number;
  readonly lateKinds: Readonly<Record<string, LateFacts>>;
  readonly deliveryKinds: Readonly<Record<string, DeliveryFacts>>;
}

/**
 * What the product knows about the service, besides the wire format, which only `src/service` knows. The values are
 * those of the interface document (docs/reference/interface.md). A second service has other values
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
