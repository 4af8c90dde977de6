import { Command as CommanderCommand } from 'commander';
import { byOption, reasonOption } from './flags.ts';

export { Argument, Option } from 'commander';

export class Command extends CommanderCommand {
  /** Adds an explanation and examples below the options of `--help`. */
  explain(text: string): this {
    return this.addHelpText('after', text);
  }

  /** Adds `--reason` and `--by`, which `noteOf` reads. @param kept where the reason is kept */
  keepNote(kept: string): this {
    return this.addOption(reasonOption(`reason, ${kept}`)).option(...byOption);
  }
}
