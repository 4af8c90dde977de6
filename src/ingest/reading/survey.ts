import { createHash } from 'node:crypto';
import { Problem, exitCodes } from '../../domain/problem.ts';
import { EncodingDetector, checkedEncoding } from './encoding.ts';
import { emptyFile, fileState, hashExport, isGzip, readBytes, type FileState } from './file-bytes.ts';
import { refuseForeignKind } from './file-kind.ts';

/** An export that was read once from end to end: it is text, and its encoding is known. */
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
 * Reads a file once, keeping nothing: content hash, packing, encoding. 220 MB take a quarter of a second, and nothing
 * is staged of a file that turns out to be unreadable in its last line.
 *
 * @param encoding a label given by hand
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
    sha256: gzip ? (await hashExport(path)).sha256 : hash.digest('hex'),
    state,
    gzip,
    encoding: found.encoding,
    warnings: found.warning === undefined ? [] : [found.warning],
  };
}

/** @throws Problem `export.changed` where the file is not what was surveyed any more */
export async function refuseChange(survey: SurveyedExport): Promise<void> {
  const now = await fileState(survey.path);
  if (now.bytes === survey.state.bytes && now.modifiedMilliseconds === survey.state.modifiedMilliseconds) {
    return;
  }
  throw changedExport(survey.path);
}

/** The file is another one than what the run was begun with. */
export function changedExport(path: string): Problem {
  return new Problem('export.changed', 'the file was changed after the run was begun', {
    where: path,
    next:
      'cancel this run (enrich cancel RUN) and run the command again with a file that no program writes to; ' +
      'nothing was paid',
    exitCode: exitCodes.failed,
  });
}
