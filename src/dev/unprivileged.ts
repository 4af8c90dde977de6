import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Who PostgreSQL runs as, and how to start it as that account. */
export interface ServerAccount {
  /** Undefined: we are an ordinary user, and the server runs as we do. */
  readonly ids: { readonly uid: number; readonly gid: number } | undefined;
  /** The command line that runs `command` as that account. */
  wrap(command: string, parameters: readonly string[]): { command: string; arguments: readonly string[] };
}

const asOurselves: ServerAccount = {
  ids: undefined,
  wrap: (command, parameters) => ({ command, arguments: parameters }),
};

/** The capabilities that let an account read below directories that are closed to it, the weaker one first. */
const readingCapabilities = [
  { name: 'dac_read_search', bit: 2n },
  { name: 'dac_override', bit: 1n },
] as const;

/**
 * PostgreSQL refuses to run as root. For root, the server runs as `nobody`, which exists everywhere, so that nothing is
 * added to the machine's accounts.
 *
 * A clone below /root (mode 0700) is closed to `nobody`. Opening it, copying 60 MB of binaries elsewhere or keeping the
 * data away from the project were rejected: `setpriv` hands the one capability that passes closed directories
 * to the server. `no_setuid_fixup` is needed because PostgreSQL checks its binaries by access(2), which drops all
 * capabilities of a non-root account otherwise.
 *
 * @param owner of the data directory, where there is one: PostgreSQL uses only a directory of its own account
 * @returns undefined where root cannot become another account on this machine
 */
export function serverAccount(owner?: { uid: number; gid: number }): ServerAccount | undefined {
  if (process.getuid?.() !== 0) return asOurselves;
  const { uid, gid } =
    owner && owner.uid !== 0 ? owner : { uid: unprivilegedId('-u'), gid: unprivilegedId('-g') };
  const capability = heldReadingCapability();
  const candidates = [
    ...(capability === undefined
      ? []
      : [
          ['--inh-caps', `+${capability}`, '--ambient-caps', `+${capability}`]
            .concat('--bounding-set', `-all,+${capability}`)
            .concat('--securebits', '+no_setuid_fixup'),
        ]),
    [],
  ];
  for (const privileges of candidates) {
    const prefix = ['--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups', ...privileges, '--'];
    const account: ServerAccount = {
      ids: { uid, gid },
      wrap: (command, parameters) => ({ command: 'setpriv', arguments: [...prefix, command, ...parameters] }),
    };
    const trial = account.wrap('true', []);
    if (spawnSync(trial.command, trial.arguments, { stdio: 'ignore' }).status === 0) return account;
  }
  return undefined;
}

function unprivilegedId(option: '-u' | '-g'): number {
  const id = Number(spawnSync('id', [option, 'nobody'], { encoding: 'utf8' }).stdout);
  return Number.isInteger(id) && id > 0 ? id : 65_534;
}

function heldReadingCapability(): string | undefined {
  const permitted = /^CapPrm:\s*([0-9a-f]+)$/m.exec(procStatus())?.[1] ?? '0';
  const mask = BigInt(`0x${permitted}`);
  return readingCapabilities.find(({ bit }) => (mask & (1n << bit)) !== 0n)?.name;
}

function procStatus(): string {
  try {
    return readFileSync('/proc/self/status', 'utf8');
  } catch {
    return '';
  }
}
