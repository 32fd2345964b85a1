/** Calls of one agent that begin in the same turn of the event loop: a hundred that end at once would keep everything else waiting. */
const together = 16

/** Lets the calls of one agent begin a few at a time, in their order. */
export class StartQueue {
  #running = 0
  readonly #waiting: (() => void)[] = []

  run<T>(begin: () => Promise<T>): Promise<T> {
    this.#running += 1
    const result = this.#running <= together ? begin() : this.#turn().then(begin)
    void result.then(this.#ended, this.#ended)
    return result
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#next)
    })
  }

  readonly #next = (): void => {
    for (const start of this.#waiting.splice(0, together)) start()
    if (this.#waiting.length > 0) setImmediate(this.#next)
  }

  readonly #ended = (): void => void (this.#running -= 1)
}
