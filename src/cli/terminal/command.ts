import { Command as CommanderCommand } from 'commander';

export { Argument, Option } from 'commander';

export class Command extends CommanderCommand {
  /** Adds an explanation and examples below the options of `--help`. */
  explain(text: string): this {
    return this.addHelpText('after', text);
  }
}
