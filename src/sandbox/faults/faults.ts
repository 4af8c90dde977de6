import { Chance } from './chance.ts';
import type { DeliveryRule, FaultsToProduce, OutOfCreditsStatus, Rule } from './scenario.ts';

export interface FaultsOptions {
  readonly seed: number;
  /** All credits that were billed so far. */
  readonly billedCredits: () => number;
  readonly now: () => number;
}

/** The faults that are turned on, and how many calls each path has had since. */
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

  /** Turns on other faults; calls, seconds and credits are counted from now on. */
  set(scenario: FaultsToProduce): void {
    this.#scenario = scenario;
    this.#calls.clear();
    this.#setAt = this.#options.now();
    this.#billedBefore = this.#options.billedCredits();
  }

  /** The first rule that is for this call; an empty one where none is. */
  next(path: string, body: string): Rule {
    const number = this.#count(path);
    return this.#rules(path, number).find((each) => body.includes(each.containing ?? '')) ?? {};
  }

  /** The first rule that is for the next result of a kind; an empty one where none is. */
  nextDelivery(kind: 'phones' | 'waterfall'): DeliveryRule {
    const name = `late ${kind}`;
    const number = this.#count(name);
    const isFor = (each: DeliveryRule) =>
      (each.kind === undefined || each.kind === kind) && this.#holds(each, name, number);
    return this.#scenario.deliveries?.find(isFor) ?? {};
  }

  /** Calls of each window that others have used by the time of the next call to a path. */
  usedByOthers(path: string): number {
    const rules = this.#rules(path, (this.#calls.get(path) ?? 0) + 1);
    return rules.find((each) => each.used_by_others !== undefined)?.used_by_others ?? 0;
  }

  /** Credits that can still be billed; undefined: any number. */
  creditsLeft(): number | undefined {
    const { credits_left: left } = this.#scenario;
    if (left === undefined) return undefined;
    return Math.max(0, left - (this.#options.billedCredits() - this.#billedBefore));
  }

  /** How the account says that it is out of credits. */
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
