import type { StagedRow } from './rows.ts';

/** Nine people who fill the rest of a batch, and whom no other test knows. */
export function strangersOf(world: string | number): StagedRow[] {
  return Array.from({ length: 9 }, (_, index) => ({
    keys: [`email:f${world}-${index}@fill.example`],
    email: `f${world}-${index}@fill.example`,
    firstName: `F${index}`,
    lastName: 'Fill',
    contactId: `fill-${world}-${index}`,
  }));
}
