import { UsageProblem, type Problem } from './problem.ts';

/**
 * A port that another program uses: a usage error, because a retry fails until a person changes the program or the
 * setting.
 *
 * @param port such as `8650`, or `7233 or 8233`
 * @param who the program that cannot listen, such as `the receiver`
 * @param setting where the port is set
 * @param otherPort how to use another port
 */
export function portTaken(
  port: number | string,
  who: string,
  setting: string,
  otherPort: string,
  cause?: unknown,
): Problem {
  return new UsageProblem('port.taken', `port ${port} is taken: ${who} cannot listen on it`, {
    where: setting,
    next: `end the program that uses it, or ${otherPort}`,
    cause,
  });
}
