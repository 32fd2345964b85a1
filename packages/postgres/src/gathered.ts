import type { Database } from './database.ts'

/** How many questions one statement answers. */
const most = 128

interface Waiting<Asked, Answer> {
  readonly asked: Asked
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** Questions that share a statement if they wait at the same time: while the connections are busy, and in one turn of the process. */
export class Gathered<Asked, Answer> {
  readonly #database: Database
  readonly #answerAll: (asked: readonly Asked[]) => Promise<readonly Answer[]>
  #waiting: Waiting<Asked, Answer>[] = []
  #isAwaited = false

  /** `answerAll` is given questions and gives an answer for each, in their order; it is done again when the database fails for a moment. */
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
