/** Caches a pure function per unchanging object: recording an answer needs names and employers fourteen times. */
export function memoizePerObject<Key extends object, Value>(
  compute: (object: Key) => Value,
): (object: Key) => Value {
  const computed = new WeakMap<Key, { readonly value: Value }>();
  return (object) => {
    const known = computed.get(object);
    if (known !== undefined) return known.value;
    const value = compute(object);
    computed.set(object, { value });
    return value;
  };
}

const maxTexts = 20_000;

/** Caches the results of a pure function for the latest texts, because companies and domains repeat in exports. */
export function memoizePerText<Result>(compute: (text: string) => Result): (text: string) => Result {
  const known = new Map<string, Result>();
  return (text) => {
    if (known.has(text)) return known.get(text) as Result;
    if (known.size === maxTexts) known.clear();
    const result = compute(text);
    known.set(text, result);
    return result;
  };
}
