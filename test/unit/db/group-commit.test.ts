import { expect, it } from 'vitest';
import { GroupCommit, type GroupCommitOptions } from '../../../src/db/group-commit.ts';

interface Commit {
  readonly items: readonly string[];
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

/** A GroupCommit of texts. The test ends each commit; the result of a text is the text in capitals. */
function groupsOf(options: Partial<GroupCommitOptions<string, string>> = {}) {
  const commits: Commit[] = [];
  const groups = new GroupCommit<string, string>({
    commit: (items) =>
      new Promise((resolve, reject) => {
        commits.push({ items, end: () => resolve(items.map((item) => item.toUpperCase())), fail: reject });
      }),
    longestGroup: 10,
    ...options,
  });
  return { groups, commits, itemsOf: () => commits.map(({ items }) => items) };
}

const refusal = (): Error => Object.assign(new Error('the database refuses a body'), { code: '22021' });
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('GroupCommit commits items that arrive during a commit as the next group, then returns their results', async () => {
  const { groups, commits, itemsOf } = groupsOf();
  const answered: string[] = [];
  for (const item of ['a', 'b', 'c']) void groups.commit(item).then((result) => answered.push(result));
  expect(itemsOf()).toEqual([['a']]);
  commits[0]!.end();
  await settled();
  expect(answered).toEqual(['A']);
  expect(itemsOf()).toEqual([['a'], ['b', 'c']]);
  commits[1]!.end();
  await settled();
  expect(answered).toEqual(['A', 'B', 'C']);
});

it('GroupCommit commits each item alone if a group fails, and rejects only items that fail alone', async () => {
  const { groups, commits, itemsOf } = groupsOf();
  const results = Promise.allSettled(['first', 'good', 'bad'].map((item) => groups.commit(item)));
  commits[0]!.end();
  await settled();
  commits[1]!.fail(refusal());
  await settled();
  commits[2]!.end();
  await settled();
  commits[3]!.fail(refusal());
  expect(await results).toMatchObject([{ value: 'FIRST' }, { value: 'GOOD' }, { status: 'rejected' }]);
  expect(itemsOf()).toEqual([['first'], ['good', 'bad'], ['good'], ['bad']]);
});

it('GroupCommit rejects a whole group without a retry if the database is unreachable', async () => {
  const { groups, commits } = groupsOf();
  const results = Promise.allSettled(['a', 'b', 'c'].map((item) => groups.commit(item)));
  commits[0]!.end();
  await settled();
  commits[1]!.fail(new Error('Connection terminated unexpectedly'));
  expect(await results).toMatchObject([{ value: 'A' }, { status: 'rejected' }, { status: 'rejected' }]);
  expect(commits).toHaveLength(2);
});

it('GroupCommit puts at most `longestGroup` items into one group', async () => {
  const { groups, commits, itemsOf } = groupsOf({ longestGroup: 2 });
  const items = ['a', 'b', 'c', 'd'];
  const results = Promise.all(items.map((item) => groups.commit(item)));
  for (let next = 0; next < commits.length; next += 1) {
    commits[next]!.end();
    await settled();
  }
  expect(await results).toHaveLength(items.length);
  expect(itemsOf()).toEqual([['a'], ['b', 'c'], ['d']]);
});

it('GroupCommit groups only compatible items, and commits the group of the longest waiting item first', async () => {
  const { groups, commits, itemsOf } = groupsOf({ isSameGroup: (one, other) => one[0] === other[0] });
  const results = Promise.all(['a1', 'b1', 'a2', 'b2'].map((item) => groups.commit(item)));
  for (let commit = 0; commit < 3; commit += 1) {
    commits[commit]!.end();
    await settled();
  }
  expect(itemsOf()).toEqual([['a1'], ['b1', 'b2'], ['a2']]);
  expect(await results).toEqual(['A1', 'B1', 'A2', 'B2']);
});
