interface LateParameter {
  /** Results of one kind are delivered together. */
  readonly kind: string;
  /** The field of a delivered person that the parameter asks for. */
  readonly field: string;
  readonly description: string;
}

/** The parameters of a call that ask for late results. */
export const lateParameters = {
  reveal_phone_number: {
    kind: 'phones',
    field: 'phone_numbers',
    description: 'include phones; results are sent to webhook_url',
  },
  run_waterfall_email: {
    kind: 'waterfall',
    field: 'emails',
    description: 'ask connected vendors for addresses; results are sent to webhook_url',
  },
  run_waterfall_phone: {
    kind: 'waterfall',
    field: 'phone_numbers',
    description: 'ask connected vendors for phones; results are sent to webhook_url',
  },
} as const satisfies Readonly<Record<string, LateParameter>>;

export type LateParameterName = keyof typeof lateParameters;
export type DeliveryKind = (typeof lateParameters)[LateParameterName]['kind'];

export const lateParameterNames = Object.keys(lateParameters) as readonly LateParameterName[];

/** All kinds of deliveries. `lateRules` has how each is announced and delivered. */
export const deliveryKinds: readonly DeliveryKind[] = [
  ...new Set(lateParameterNames.map((name) => lateParameters[name].kind)),
];

/** The parameters of a call that ask for late results of these kinds. */
export function askedParameters(
  extras: Readonly<Record<LateParameterName, 'true' | 'false'>>,
  kinds = deliveryKinds,
): LateParameterName[] {
  return lateParameterNames.filter(
    (name) => extras[name] === 'true' && kinds.includes(lateParameters[name].kind),
  );
}

export interface LatePerson {
  readonly id: string;
  readonly hasMobile: boolean;
  readonly email: string | null;
}

export interface LateRequest {
  readonly requestId: string;
  readonly webhookUrl: string;
  readonly people: readonly LatePerson[];
  /** The kinds that are delivered, with the fields that are asked for. */
  readonly fields: ReadonlyMap<DeliveryKind, readonly string[]>;
  /** Credits billed with the answer; a waterfall's delivery reports the price of the whole request. */
  readonly creditsOfAnswer: number;
}
