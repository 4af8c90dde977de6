import { databaseErrorCode, isDatabaseUnreachable } from './postgres-errors.ts';

export interface GroupCommitOptions<Item, Result> {
  /** Commits several items in one transaction. @returns a result for each item, in the order of items */
  readonly commit: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** True if two items may be in one group; undefined: any two items may. */
  readonly isSameGroup?: (one: Item, other: Item) => boolean;
  /** Maximum total size of a group. A single item can be larger. */
  readonly longestGroup: number;
  /** Size of an item; undefined: each item has the size 1. */
  readonly sizeOf?: (item: Item) => number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Commits items that arrive together in one transaction, because a flush to the disk costs the same for many. The first
 * is committed at once; others wait for the next. One group at a time: two at once were smaller and stored a tenth
 * less.
 */
export class GroupCommit<Item, Result> {
  readonly #options: GroupCommitOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #isCommitting = false;

  constructor(options: GroupCommitOptions<Item, Result>) {
    this.#options = options;
  }

  /** Adds an item to a group and resolves after the commit; only an error about this item is thrown. */
  commit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#commitNext();
    });
  }

  /** Begins the next group, unless one is being committed. */
  #commitNext(): void {
    if (this.#waiting.length === 0 || this.#isCommitting) return;
    this.#isCommitting = true;
    void this.#commit(this.#nextGroup()).finally(() => {
      this.#isCommitting = false;
      this.#commitNext();
    });
  }

  /** Takes the first waiting item, and the following items that fit into its group. */
  #nextGroup(): Waiting<Item, Result>[] {
    const { isSameGroup = () => true, longestGroup, sizeOf = () => 1 } = this.#options;
    const [first] = this.#waiting;
    let size = 0;
    const group = this.#waiting
      .filter(({ item }) => isSameGroup(first!.item, item))
      .filter(({ item }, place) => (size += sizeOf(item)) <= longestGroup || place === 0);
    this.#waiting = this.#waiting.filter((waiting) => !group.includes(waiting));
    return group;
  }

  /** Commits a group and answers its callers. */
  async #commit(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.commit(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index]!);
    } catch (error) {
      // If PostgreSQL did not refuse the statement, the items may be committed, and a retry would commit them twice.
      const isRefused = databaseErrorCode(error) !== undefined && !isDatabaseUnreachable(error);
      if (group.length === 1 || !isRefused) for (const { reject } of group) reject(error);
      // One item has prevented the commit of the group, so each item gets a commit of its own.
      else for (const each of group) await this.#commit([each]);
    }
  }
}
