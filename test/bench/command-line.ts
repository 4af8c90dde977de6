import { parseArgs } from 'node:util';

/**
 * Reads the options of a benchmark, such as `--seconds 3`. A process that a benchmark starts also has words without a
 * name.
 *
 * @throws TypeError if the command line has an unknown option, because a benchmark takes minutes
 */
export function benchOptions<Name extends string>(...names: readonly Name[]): Partial<Record<Name, string>> {
  const { values } = parseArgs({
    options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    allowPositionals: true,
  });
  return values as Partial<Record<Name, string>>;
}
