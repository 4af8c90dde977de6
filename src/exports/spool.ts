import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Content that is on this machine now, under its hash. */
export interface SpooledContent {
  readonly path: string;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
}

/** Whatever is younger may belong to a command that has not begun its run yet. */
const abandonedAfterMilliseconds = 3_600_000;

/**
 * A folder in which exports that lie elsewhere are kept from when they are fetched until their rows are staged. They hold
 * people's data: only the user of this process may read them. A file is named by its content, so that after a kill the same
 * content is found again; what is not whole yet ends in `.part`.
 */
export class Spool {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  pathOf(sha256: string): string {
    return join(this.#folder, sha256);
  }

  async has(sha256: string): Promise<boolean> {
    return stat(this.pathOf(sha256)).then(
      () => true,
      () => false,
    );
  }

  /** Writes what `fill` appends; nothing is left of it where that fails. */
  async write(fill: (file: SpoolFile) => Promise<void>): Promise<SpooledContent> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const partial = join(this.#folder, `${randomBytes(8).toString('hex')}.part`);
    const file = new SpoolFile(await open(partial, 'wx', 0o600));
    try {
      let written;
      try {
        await fill(file);
        written = await file.finish();
      } finally {
        await file.close();
      }
      const { sha256, bytes } = written;
      await rename(partial, this.pathOf(sha256));
      return { path: this.pathOf(sha256), sha256, bytes };
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  async remove(sha256: string): Promise<void> {
    await rm(this.pathOf(sha256), { force: true });
  }

  /** Contents, and rests of such, that have been here for an hour: what a process left that was killed. */
  async abandoned(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const before = Date.now() - abandonedAfterMilliseconds;
    const old: string[] = [];
    for (const name of names) {
      const found = await stat(join(this.#folder, name)).catch(() => undefined);
      if (found && found.mtimeMs < before) old.push(name);
    }
    return old;
  }
}

/** A file that is being written, and its hash so far. */
export class SpoolFile {
  readonly #handle: FileHandle;
  #hash = createHash('sha256');
  #bytes = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  async append(piece: Uint8Array): Promise<void> {
    for (let written = 0; written < piece.length;) {
      const { bytesWritten } = await this.#handle.write(
        piece,
        written,
        piece.length - written,
        this.#bytes + written,
      );
      written += bytesWritten;
    }
    this.#hash.update(piece);
    this.#bytes += piece.length;
  }

  /** Forgets what was written. */
  async beginAnew(): Promise<void> {
    await this.#handle.truncate(0);
    this.#hash = createHash('sha256');
    this.#bytes = 0;
  }

  /** Ends the file; what was written survives a loss of power. */
  async finish(): Promise<{ sha256: string; bytes: number }> {
    await this.#handle.sync();
    return { sha256: this.#hash.digest('hex'), bytes: this.#bytes };
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
