import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The account of PostgreSQL, and how to start a command as this account. */
export interface ServerAccount {
  /** Undefined: this process runs as an ordinary user, and PostgreSQL runs as the same user. */
  readonly ids: { readonly uid: number; readonly gid: number } | undefined;
  /** Returns the command line that runs `command` as this account. */
  wrap(command: string, parameters: readonly string[]): { command: string; arguments: readonly string[] };
}

const asOurselves: ServerAccount = {
  ids: undefined,
  wrap: (command, parameters) => ({ command, arguments: parameters }),
};

/** Capabilities with which an account can read below directories that are closed to it, the weaker one first. */
const readingCapabilities = [
  { name: 'dac_read_search', bit: 2n },
  { name: 'dac_override', bit: 1n },
] as const;

/**
 * PostgreSQL refuses to run as root. If this process is root, PostgreSQL runs as `nobody`: this account exists
 * everywhere, so the machine needs no new account.
 *
 * A clone below /root (mode 0700) is closed to `nobody`. `setpriv` gives the server the one capability that passes
 * closed directories. Rejected: opening /root, copying 60 MB of binaries elsewhere, or keeping the data outside of the
 * project. `no_setuid_fixup` is needed because PostgreSQL checks its binaries by access(2), which otherwise drops all
 * capabilities of an account other than root.
 *
 * @param owner owner of the data directory, if it exists: PostgreSQL uses only a directory of its own account
 * @returns undefined if root cannot become another account on this machine
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
