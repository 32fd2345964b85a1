/** Calls of one agent that begin in the same turn of the event loop: a hundred that end at once would keep everything else waiting. */
const together = 16

/** Lets the calls of one agent begin a few at a time, in their order. */
export class StartQueue {
  #running = 0
  readonly #waiting: (() => void)[] = []

  run<T>(begin: () => T | Promise<T>): T | Promise<T> {
    this.#running += 1
    if (this.#running <= together) return this.#follow(begin)
    return new Promise<void>((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#next)
    }).then(() => this.#follow(begin))
  }

  readonly #next = (): void => {
    for (const start of this.#waiting.splice(0, together)) start()
    if (this.#waiting.length > 0) setImmediate(this.#next)
  }

  #follow<T>(begin: () => T | Promise<T>): T | Promise<T> {
    let value: T | Promise<T> | undefined
    try {
      value = begin()
      return value
    } finally {
      // One that ended at once has kept the others waiting as well.
      if (value instanceof Promise) void value.finally(this.#ended).catch(() => {})
      else queueMicrotask(this.#ended)
    }
  }

  readonly #ended = (): void => void (this.#running -= 1)
}
