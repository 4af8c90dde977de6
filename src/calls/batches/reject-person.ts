import type { Warehouse } from '../../db/database.ts';
import type { AskedExtras } from '../../domain/late-results/delivery-kinds.ts';
import { recordRejected } from '../../people/known/lookup-history.ts';

/** Records that the service refuses a person: a call with this person alone was answered by 422 and costs nothing. */
export async function rejectPerson(
  { database }: Warehouse,
  rejected: {
    readonly runId: string;
    readonly rowNumber: number;
    readonly reason: string;
    readonly asked: AskedExtras & { readonly service: string };
  },
): Promise<void> {
  const { runId, rowNumber, reason, asked } = rejected;
  await database.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('run_rows')
      .set({ outcome: 'rejected', reason })
      .where('run_id', '=', runId)
      .where('row_number', '=', rowNumber)
      .where('outcome', 'is', null)
      .execute();
    await transaction
      .deleteFrom('claims')
      .where('run_id', '=', runId)
      .where('row_number', '=', rowNumber)
      .execute();
    await recordRejected(transaction, runId, rowNumber, asked);
  });
}
