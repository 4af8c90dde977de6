/** The value of an option of the command line, such as `--seconds 3`. */
export function optionOf(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}
