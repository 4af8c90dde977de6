import { createHash } from 'node:crypto';
import { Problem, exitCodes } from '../../../domain/problem.ts';
import { EncodingDetector, checkedEncoding } from './encoding.ts';
import { emptyFile, fileState, hashExport, isGzip, readBytes, type FileState } from './file-bytes.ts';
import { refuseForeignKind } from './file-kind.ts';

/** An export that was read once completely: it is text, and its encoding is known. */
export interface SurveyedExport {
  readonly path: string;
  readonly sha256: string;
  readonly state: FileState;
  readonly gzip: boolean;
  /** A label that TextDecoder knows. */
  readonly encoding: string;
  readonly warnings: readonly string[];
}

/**
 * Reads a file once and keeps nothing: computes its content hash, and recognises gzip and encoding. 220 MB take a
 * quarter of a second. So no row is staged of a file whose last line is unreadable.
 *
 * @param encoding a label from the mapping file
 * @throws Problem `export.*`, `mapping.encoding`
 */
export async function surveyExport(
  path: string,
  encoding?: string,
  signal?: AbortSignal,
): Promise<SurveyedExport> {
  const given = encoding === undefined ? undefined : checkedEncoding(encoding);
  const state = await fileState(path);
  const gzip = await isGzip(path);
  const hash = createHash('sha256');
  const detector = new EncodingDetector(path, given);
  let bytes = 0;
  for await (const piece of readBytes(path, gzip, signal)) {
    if (bytes === 0) refuseForeignKind(path, piece);
    if (!gzip) hash.update(piece);
    detector.push(piece);
    bytes += piece.length;
  }
  if (bytes === 0) throw emptyFile(path);
  const found = detector.finish();
  return {
    path,
    sha256: gzip ? (await hashExport(path, signal)).sha256 : hash.digest('hex'),
    state,
    gzip,
    encoding: found.encoding,
    warnings: found.warning === undefined ? [] : [found.warning],
  };
}

/** @throws Problem `export.changed` if the file has changed since the survey */
export async function refuseChange(survey: SurveyedExport): Promise<void> {
  const now = await fileState(survey.path);
  if (now.bytes === survey.state.bytes && now.modifiedMilliseconds === survey.state.modifiedMilliseconds) {
    return;
  }
  throw changedExport(survey.path);
}

/** The content is not that of the run. */
export function changedExport(path: string): Problem {
  return new Problem('export.changed', 'the file was changed after the run was begun', {
    where: path,
    next: 'repeat the command when no program writes to the file; nothing was paid',
    exitCode: exitCodes.failed,
  });
}
