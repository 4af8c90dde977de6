import { formatNumber } from '../../domain/text/format-number.ts';
import { tell } from './output.ts';

const millisecondsBetween = 10_000;

/**
 * Makes a function that prints the progress of long work, at most every ten seconds.
 *
 * @param what unit of the count, such as `entries of the log`
 */
export function progressReporter(what: string): (done: number) => void {
  let told = performance.now();
  return (done) => {
    if (performance.now() - told < millisecondsBetween) return;
    told = performance.now();
    tell(`${formatNumber(done)} ${what} so far`);
  };
}
