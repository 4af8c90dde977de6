/** Who decided, and why. */
export interface Note {
  readonly by: string;
  readonly reason: string | undefined;
}
