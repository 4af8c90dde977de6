export class ByMatchKey<Value extends { readonly matchKeys: readonly number[] }> {
  readonly #values = new Map<number, Value[]>();

  constructor(values: readonly Value[]) {
    for (const value of values)
      for (const key of value.matchKeys) {
        const found = this.#values.get(key);
        if (found) found.push(value);
        else this.#values.set(key, [value]);
      }
  }

  /** Each value that shares a key, once. */
  sharing(keys: readonly number[]): Value[] {
    return [...new Set(keys.flatMap((key) => this.#values.get(key) ?? []))];
  }
}
