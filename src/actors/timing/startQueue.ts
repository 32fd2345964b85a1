/** Maximum number of calls of one agent that start in one turn of the event loop. A hundred calls ending at once would block everything else. */
const together = 16

/** Starts the calls of one agent a few at a time, in order. */
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
