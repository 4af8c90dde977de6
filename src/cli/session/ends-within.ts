/** Waits for work, but no longer than a limit; work that takes longer is abandoned. @throws as the work fails */
export async function endsWithin(work: Promise<unknown>, seconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    const late = (): void => reject(new Error(`not ended after ${seconds} s`));
    timer = setTimeout(late, seconds * 1_000);
  });
  try {
    await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
