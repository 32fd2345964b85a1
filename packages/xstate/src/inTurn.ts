const turns = new WeakMap<object, Map<string, Promise<void>>>()

/** Runs `work` once all earlier work of this owner and name has settled; resolves or rejects as `work` does. */
export async function inTurn(owner: object, name: string, work: () => Promise<void>): Promise<void> {
  const own = turns.get(owner) ?? new Map<string, Promise<void>>()
  turns.set(owner, own)
  const working = (own.get(name) ?? Promise.resolve()).then(work)
  const settled = working.catch(() => {})
  own.set(name, settled)
  await working.finally(() => {
    if (own.get(name) === settled) own.delete(name)
  })
}
