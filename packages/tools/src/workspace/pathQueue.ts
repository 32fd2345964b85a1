const lastInLine = new Map<string, Promise<void>>()

/**
 * Runs `work` after every earlier call for the same path: tool calls run in parallel, and two edits of one file must not overwrite
 * each other. Covers this process only; a path is forgotten once nothing waits for it.
 */
export async function inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
  const before = lastInLine.get(path)
  const { promise: mine, resolve: leave } = Promise.withResolvers<void>()
  lastInLine.set(path, mine)
  await before
  try {
    return await work()
  } finally {
    if (lastInLine.get(path) === mine) lastInLine.delete(path)
    leave()
  }
}
