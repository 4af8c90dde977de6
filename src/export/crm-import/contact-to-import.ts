import type { ImportField } from '../../domain/crm/importer.ts';

/** The warehouse's value of one field. */
export interface KnownValue {
  readonly value: string | null;
  readonly observedAt: Date | null;
  readonly runId: string | null;
  /** The address is verified, or the number valid. */
  readonly isVerified: boolean;
  readonly isDoNotCall: boolean;
}

/** A change of employer, which is reported and never written. */
export interface JobChangeFacts {
  readonly from: string;
  readonly to: string;
  readonly title: string;
  readonly detectedAt: Date;
}

/** A contact with its data in the newest export of the CRM and in the warehouse. */
export interface ContactToImport {
  readonly contactId: string;
  /** Cells of the newest export by the key of their header (`headerKey`); undefined if its rows were pruned. */
  readonly exported: ReadonlyMap<string, string> | undefined;
  readonly known: Readonly<Record<ImportField, KnownValue>>;
  readonly jobChange: JobChangeFacts | undefined;
}
