/**
 * Computes a value once for each object and keeps it while the object lives. Recording an answer needs the names and
 * employers of each person fourteen times.
 *
 * @param compute pure; the objects must not change
 */
export function oncePerObject<Key extends object, Value>(
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
