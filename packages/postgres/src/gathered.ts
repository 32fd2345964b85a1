import type { Database } from './database.ts'

/** Maximum number of queries that one statement answers. */
const most = 128

interface Waiting<Asked, Answer> {
  readonly asked: Asked
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** Combines queries that wait at the same time into one statement: those in one tick, and those made while connections are busy. */
export class Gathered<Asked, Answer> {
  readonly #database: Database
  readonly #answerAll: (asked: readonly Asked[]) => Promise<readonly Answer[]>
  #waiting: Waiting<Asked, Answer>[] = []
  #isAwaited = false

  /** `answerAll` takes queries and returns their answers in the same order. It is retried after transient failures. */
  constructor(database: Database, answerAll: (asked: readonly Asked[]) => Promise<readonly Answer[]>) {
    this.#database = database
    this.#answerAll = answerAll
  }

  ask(asked: Asked): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    this.#waiting.push({ asked, resolve, reject })
    this.#wake()
    return promise
  }

  #wake(): void {
    if (this.#isAwaited || this.#waiting.length === 0) return
    this.#isAwaited = true
    setImmediate(() => {
      void this.#answerNext()
    })
  }

  async #answerNext(): Promise<void> {
    const end = await this.#database.turns.take()
    this.#isAwaited = false
    const group = this.#waiting.splice(0, most)
    this.#wake()
    try {
      const answers = await this.#database.patiently(() => this.#answerAll(group.map(({ asked }) => asked)))
      for (const [index, { resolve }] of group.entries()) resolve(answers[index]!)
    } catch (thrown) {
      for (const { reject } of group) reject(thrown)
    } finally {
      end()
    }
  }
}
