const lastInLine = new Map<string, Promise<void>>()

/**
 * Runs `work` when every earlier call for the same path has ended: tool calls run in parallel, and two edits of one file
 * must not lose each other. Covers this process only; a path is forgotten when nobody waits for it.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
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
