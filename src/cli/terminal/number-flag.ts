import { InvalidArgumentError } from 'commander';

/**
 * Makes the parser of a flag that takes a whole number. A mistyped number must not become the default.
 *
 * @throws InvalidArgumentError that commander shows with the name of the flag; exit code 2
 */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `${minimum} or more` : `from ${minimum} to ${maximum}`;
  return (text) => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(number) && number >= minimum && number <= maximum) return number;
    throw new InvalidArgumentError(`Write a whole number, ${range}.`);
  };
}

/** Reads a flag that takes a share from 0 to 1, such as `0.82`. @throws InvalidArgumentError */
export function share(text: string): number {
  const number = /^(?:\d+|\d*\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 0 && number <= 1) return number;
  throw new InvalidArgumentError('Write a share from 0 to 1, such as 0.82.');
}
