import { Chance } from './chance.ts';
import type { DeliveryRule, FaultsToProduce, OutOfCreditsStatus, Rule } from './scenario.ts';
import type { DeliveryKind } from '../late-results/late-parameters.ts';

export interface FaultsOptions {
  readonly seed: number;
  readonly billedCredits: () => number;
  readonly now: () => number;
}

/** The active faults, and the number of calls of each path since they became active. */
export class Faults {
  readonly #options: FaultsOptions;
  readonly #calls = new Map<string, number>();
  #scenario: FaultsToProduce = {};
  #setAt = 0;
  #billedBefore = 0;

  constructor(options: FaultsOptions, scenario: FaultsToProduce) {
    this.#options = options;
    this.set(scenario);
  }

  /** Activates other faults; calls, seconds and credits are counted from now. */
  set(scenario: FaultsToProduce): void {
    this.#scenario = scenario;
    this.#calls.clear();
    this.#setAt = this.#options.now();
    this.#billedBefore = this.#options.billedCredits();
  }

  /** The first rule that applies to this call, or an empty rule. */
  next(path: string, body: string): Rule {
    const number = this.#count(path);
    return this.#rules(path, number).find((each) => body.includes(each.containing ?? '')) ?? {};
  }

  /** The first rule that applies to the next late result of a kind, or an empty rule. */
  nextDelivery(kind: DeliveryKind): DeliveryRule {
    const name = `late ${kind}`;
    const number = this.#count(name);
    const isFor = (each: DeliveryRule) =>
      (each.kind === undefined || each.kind === kind) && this.#holds(each, name, number);
    return this.#scenario.deliveries?.find(isFor) ?? {};
  }

  /** Calls of each window that other programs have used before the next call to a path. */
  usedByOthers(path: string): number {
    const rules = this.#rules(path, (this.#calls.get(path) ?? 0) + 1);
    return rules.find((each) => each.used_by_others !== undefined)?.used_by_others ?? 0;
  }

  /** Remaining credits; undefined: unlimited. */
  creditsLeft(): number | undefined {
    const { credits_left: left } = this.#scenario;
    if (left === undefined) return undefined;
    return Math.max(0, left - (this.#options.billedCredits() - this.#billedBefore));
  }

  /** The status of a refusal for lack of credits. */
  outOfCreditsStatus(): OutOfCreditsStatus {
    return this.#scenario.out_of_credits ?? 402;
  }

  #rules(path: string, number: number): Rule[] {
    return (this.#scenario.rules ?? []).filter(
      (each) =>
        (each.path === undefined || each.path === path) &&
        (each.for_seconds === undefined || this.#options.now() < this.#setAt + each.for_seconds * 1_000) &&
        this.#holds(each, path, number),
    );
  }

  #holds(rule: Pick<Rule, 'from' | 'to' | 'share'>, name: string, number: number): boolean {
    return (
      number >= (rule.from ?? 1) &&
      number <= (rule.to ?? Number.POSITIVE_INFINITY) &&
      (rule.share === undefined || new Chance(this.#options.seed, `${name} ${number}`).share(rule.share))
    );
  }

  #count(name: string): number {
    const number = (this.#calls.get(name) ?? 0) + 1;
    this.#calls.set(name, number);
    return number;
  }
}
