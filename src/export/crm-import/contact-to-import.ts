import type { ImportField } from '../../domain/crm/importer.ts';

/** What the warehouse knows of one field. */
export interface KnownValue {
  readonly value: string | null;
  readonly observedAt: Date | null;
  readonly runId: string | null;
  /** The address is verified, or the number valid. */
  readonly isVerified: boolean;
  readonly isDoNotCall: boolean;
}

/** A move of the person to another employer, which is reported and never written. */
export interface JobChangeFacts {
  readonly from: string;
  readonly to: string;
  readonly title: string;
  readonly detectedAt: Date;
}

/** A contact with what the CRM's newest export and the warehouse say of it. */
export interface ContactToImport {
  readonly contactId: string;
  /** Cells of the newest export by header; undefined where the rows of that export are no longer kept. */
  readonly exported: ReadonlyMap<string, string> | undefined;
  readonly known: Readonly<Record<ImportField, KnownValue>>;
  readonly jobChange: JobChangeFacts | undefined;
}
