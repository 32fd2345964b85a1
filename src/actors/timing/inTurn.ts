const lines = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Runs `work` once all earlier work of this owner and key has settled; settles as `work` does. Covers this process only, and forgets a key for which
 * nothing waits.
 */
export async function inTurn<T>(owner: object, key: string, work: () => Promise<T>): Promise<T> {
  const own = lines.get(owner) ?? new Map<string, Promise<unknown>>()
  lines.set(owner, own)
  const working = (own.get(key) ?? Promise.resolve()).then(work)
  const settled = working.catch(() => {})
  own.set(key, settled)
  return await working.finally(() => {
    if (own.get(key) === settled) own.delete(key)
  })
}
