import { databaseErrorCode, isDatabaseAway } from './postgres-errors.ts';

export interface GroupCommitOptions<Item, Result> {
  /** Commits items together. @returns a result for each item, in their order */
  readonly commit: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Whether two items may be in one group; undefined: any two. */
  readonly isSameGroup?: (one: Item, other: Item) => boolean;
  /** A group ends before its items exceed this size, but has at least one item. */
  readonly longestGroup: number;
  /** Undefined: each item has the size 1. */
  readonly sizeOf?: (item: Item) => number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Commits items that arrive together in one transaction, because a flush to the disk costs the same for one item as for
 * many. The first item is committed at once. Items that arrive during a commit wait for the next one. Two groups at
 * once made the receiver's groups half as large, and it stored a tenth less.
 */
export class GroupCommit<Item, Result> {
  readonly #options: GroupCommitOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #isCommitting = false;

  constructor(options: GroupCommitOptions<Item, Result>) {
    this.#options = options;
  }

  /**
   * Resolves after the commit of the item.
   *
   * @throws the error that prevents the commit of this item, not errors of other items in its group
   */
  commit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#commitNext();
    });
  }

  #commitNext(): void {
    if (this.#waiting.length === 0 || this.#isCommitting) return;
    this.#isCommitting = true;
    void this.#commit(this.#nextGroup()).finally(() => {
      this.#isCommitting = false;
      this.#commitNext();
    });
  }

  /** Takes the first waiting item, and the following ones that fit into its group. */
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

  async #commit(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.commit(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index]!);
    } catch (error) {
      // If PostgreSQL did not refuse, the items may be committed, and a retry would commit them twice.
      const isRefused = databaseErrorCode(error) !== undefined && !isDatabaseAway(error);
      if (group.length === 1 || !isRefused) for (const { reject } of group) reject(error);
      // One item prevented the commit of the group, so each item gets its own commit.
      else for (const each of group) await this.#commit([each]);
    }
  }
}
