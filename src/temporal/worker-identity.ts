import { hostname } from 'node:os';

const keyPart = /, key ([\w.-]{1,64})$/;

/** The name of a worker in Temporal, which says with which key the worker encrypts: commands need the same key. */
export function workerIdentity(keyName: string | undefined): string {
  const name = `${process.pid}@${hostname()}`;
  return keyName === undefined ? name : `${name}, key ${keyName}`;
}

/** @returns the name of the key; undefined: the worker encrypts nothing, or is of an older release */
export function keyOfWorker(identity: string): string | undefined {
  return keyPart.exec(identity)?.[1];
}
