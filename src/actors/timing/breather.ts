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

/**
 * Returns a function to call before each of many short steps. Once one turn of the event loop has had `most` of them, it returns a promise to
 * await, which the next turn resolves. Unlike the pauses of a breather, these do not depend on how fast the machine is.
 */
export function stepsInATurn(most: number): () => Promise<void> | undefined {
  let steps = 0
  return () => {
    if (steps === 0) setImmediate(() => (steps = 0))
    steps += 1
    return steps > most ? new Promise((resolve) => setImmediate(resolve)) : undefined
  }
}
