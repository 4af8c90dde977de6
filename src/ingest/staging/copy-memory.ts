import { encodeText, type ByteText } from '../reading/bytes/byte-text.ts';

/** The header of COPY: its signature, no flags and no extension. */
const header = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');

/** Object ids of PostgreSQL's types, the same in all versions. */
const types = { text: 25, integer: 23 } as const;

/** For fewer characters, a loop is faster than a call of the buffer. */
const fewCharacters = 24;

/**
 * Values in the binary format of COPY, in reused memory: allocating megabytes for each chunk kept the garbage collector
 * busy for a seventh of the time of staging.
 */
export class CopyMemory {
  #memory: Buffer;
  #used = header.length;

  constructor(bytes: number) {
    this.#memory = Buffer.allocUnsafeSlow(bytes);
  }

  /** Position of the next value. */
  get used(): number {
    return this.#used;
  }

  /** Forgets the values. What was handed out of them must not be in use any more. */
  clear(): void {
    this.#used = header.length;
  }

  /** Begins a row of this many values. */
  row(values: number): void {
    this.#reserve(2);
    this.#used = this.#memory.writeInt16BE(values, this.#used);
  }

  text(value: string | undefined): void {
    if (value === undefined) this.#int32(-1);
    else this.bytes(encodeText(value));
  }

  /** A text in its encoded bytes. */
  bytes(value: ByteText): void {
    const { length } = value;
    this.#int32(length);
    this.#reserve(length);
    if (length > fewCharacters) this.#memory.write(value, this.#used, 'latin1');
    else for (let at = 0; at < length; at += 1) this.#memory[this.#used + at] = value.charCodeAt(at);
    this.#used += length;
  }

  integer(value: number): void {
    this.#int32(4);
    this.#int32(value);
  }

  boolean(value: boolean): void {
    this.#int32(1);
    this.#reserve(1);
    this.#used = this.#memory.writeUInt8(value ? 1 : 0, this.#used);
  }

  texts(values: readonly string[]): void {
    const start = this.#used;
    this.#int32(0);
    this.#beginArray(types.text, values.length);
    for (const value of values) this.text(value);
    this.#memory.writeInt32BE(this.#used - start - 4, start);
  }

  integers(values: readonly number[]): void {
    const start = this.#used;
    this.#int32(0);
    this.#beginArray(types.integer, values.length);
    for (const value of values) this.integer(value);
    this.#memory.writeInt32BE(this.#used - start - 4, start);
  }

  /** What COPY reads: its header and the rows from this position. What stands before the position is gone. */
  copyFrom(start: number): Buffer {
    header.copy(this.#memory, start - header.length);
    return this.#memory.subarray(start - header.length, this.#used);
  }

  /** Dimensions, whether there are nulls, the type, and the bounds of the dimension. */
  #beginArray(type: number, length: number): void {
    this.#int32(length === 0 ? 0 : 1);
    this.#int32(0);
    this.#int32(type);
    if (length === 0) return;
    this.#int32(length);
    this.#int32(1);
  }

  #int32(value: number): void {
    this.#reserve(4);
    const memory = this.#memory;
    const at = this.#used;
    memory[at] = value >>> 24;
    memory[at + 1] = value >>> 16;
    memory[at + 2] = value >>> 8;
    memory[at + 3] = value;
    this.#used += 4;
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#memory.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#used + bytes));
    this.#memory.copy(larger, 0, 0, this.#used);
    this.#memory = larger;
  }
}
