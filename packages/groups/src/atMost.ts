/**
 * Returns the results of `work` for each item, in the order of the items; works on at most `most` items at once. Once `isOver`, no more are
 * begun, and `undefined` stands in their place. When one fails, `failed` is called, no more are begun, and once those under way have ended the
 * result rejects with that failure.
 */
export async function atMost<T, R>(
  most: number,
  items: readonly T[],
  work: (item: T) => Promise<R | undefined>,
  { isOver, failed }: { isOver(): boolean; failed(): void },
): Promise<(R | undefined)[]> {
  const done: (R | undefined)[] = Array.from({ length: items.length })
  let next = 0
  let failure: { readonly thrown: unknown } | undefined
  const worker = async (): Promise<void> => {
    while (next < items.length && failure === undefined && !isOver()) {
      const index = next
      next += 1
      try {
        done[index] = await work(items[index]!)
      } catch (thrown) {
        if (failure === undefined) failed()
        failure ??= { thrown }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
  if (failure !== undefined) throw failure.thrown
  return done
}
