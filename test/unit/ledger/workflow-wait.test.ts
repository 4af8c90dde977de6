import { describe, expect, it } from 'vitest';
import { waitOfWorkflow } from '../../../src/domain/rates/waiting.ts';

const patience = 10_000;

describe('a batch without a free slot', () => {
  it('waits in its activity while its patience lasts', () => {
    expect(waitOfWorkflow({ milliseconds: 4_000 }, 6_000, patience)).toBeUndefined();
  });

  it('waits by a timer of the workflow if its patience would end before the slot is free', () => {
    expect(waitOfWorkflow({ milliseconds: 4_001 }, 6_000, patience)).toBe(4_001);
  });
});

describe('a batch that work of higher priority precedes', () => {
  it('waits in its activity for six times its patience', () => {
    expect(waitOfWorkflow({ milliseconds: 30_000, isPreempted: true }, 59_999, patience)).toBeUndefined();
  });

  it('then tries every five minutes, however soon a slot is free', () => {
    expect(waitOfWorkflow({ milliseconds: 1_000, isPreempted: true }, 60_000, patience)).toBe(300_000);
  });

  it('then waits longer than five minutes if no slot is free before', () => {
    expect(waitOfWorkflow({ milliseconds: 900_000, isPreempted: true }, 60_000, patience)).toBe(900_000);
  });
});
