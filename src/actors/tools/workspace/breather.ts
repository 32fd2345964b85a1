const mostMs = 10

/**
 * Makes a function to be called between the pieces of a long work: it gives a promise to wait for when the event loop has had no turn
 * for 10 ms, so that timers, sockets and aborts are not kept waiting.
 */
export function breather(now: () => number = () => performance.now()): () => Promise<void> | undefined {
  let since = now()
  return () => {
    if (now() - since < mostMs) return undefined
    return new Promise((resolve) =>
      setImmediate(() => {
        since = now()
        resolve()
      }),
    )
  }
}
