import { displayForm } from '../../../domain/identity/values/normalise.ts';

/** An id as its CRM writes it. Data tools write whole numbers as `4001.0` if other cells of the column are empty. */
export function idText(cell: string): string {
  return displayForm(cell).replace(/^(\d+)\.0$/, '$1');
}
