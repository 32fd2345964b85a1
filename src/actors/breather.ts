const mostMs = 10

/**
 * Returns a function to call between the steps of a long computation. Once the event loop has had no turn for 10 ms, since it was made or
 * first called in this turn, it returns a promise to await, so that timers, sockets and aborts are not delayed. Several computations that
 * share it have 10 ms together.
 */
export function breather(now: () => number = () => performance.now()): () => Promise<void> | undefined {
  let heldSince: number | undefined
  const hold = (): void => {
    heldSince = now()
    setImmediate(() => (heldSince = undefined))
  }
  hold()
  return () => {
    if (heldSince === undefined) hold()
    else if (now() - heldSince >= mostMs) return new Promise((resolve) => setImmediate(resolve))
    return undefined
  }
}
