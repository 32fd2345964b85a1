const mostMs = 10

/**
 * Returns a function to call between the steps of a long computation. Once it has held the event loop for 10 ms it returns a promise
 * to await, so that timers, sockets and aborts are not delayed.
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
