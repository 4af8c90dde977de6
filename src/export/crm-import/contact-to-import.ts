import type { ImportField } from '../../domain/crm/crm.ts';

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
  /**
   * Rows of the contact in the newest export, in the order of the file: cells by the key of their header (`headerKey`).
   * Empty if the cells were removed.
   */
  readonly exported: readonly ReadonlyMap<string, string>[];
  /** The newest export says that the contact opted out of processing. */
  readonly optedOut: boolean;
  /** The newest export says that the contact opted out of calls. */
  readonly optedOutOfCalls: boolean;
  readonly known: Readonly<Record<ImportField, KnownValue>>;
  readonly jobChange: JobChangeFacts | undefined;
}
