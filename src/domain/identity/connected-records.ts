/**
 * Finds the records that are one person with a record, also those that only other records connect: A is B, and B is C.
 * None of the connected records contradicts another, so a chain leads to no record that the evidence distinguishes from
 * the person.
 *
 * @param linkedTo records for which there is evidence that they are the same person as a record
 * @param isSame whether two values are the same record
 * @param canBeOne whether nothing shows that two records are two people
 * @returns the record itself first
 */
export function connectedRecords<Record>(
  record: Record,
  linkedTo: (record: Record) => readonly Record[],
  isSame: (one: Record, other: Record) => boolean,
  canBeOne: (one: Record, other: Record) => boolean,
): readonly Record[] {
  const connected = [record];
  for (let newest: readonly Record[] = connected; newest.length > 0;) {
    const linked = new Set(newest.flatMap(linkedTo));
    const joining = [...linked].filter((one) =>
      connected.every((other) => !isSame(one, other) && canBeOne(one, other)),
    );
    newest = joining.filter((one) => joining.every((other) => isSame(one, other) || canBeOne(one, other)));
    connected.push(...newest);
  }
  return connected;
}
