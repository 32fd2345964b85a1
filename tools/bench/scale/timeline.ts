import { addToHeap, takeFromHeap } from './heap.ts'

/** Something a process waits for: told how to go on, it does so once. */
export type Wait = (goOn: () => void) => void
/** Consecutive steps of one prompt, connection or machine. */
export type Process = Generator<Wait, void, void>

interface Due {
  readonly at: number
  /** Order of creation. If two are due at once, the older is first, so that the same seed gives the same run. */
  readonly order: number
  readonly work: () => void
}

const isBefore = (a: Due, b: Due): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

/** Simulated time, in milliseconds. */
export class Timeline {
  /** A heap. */
  readonly #due: Due[] = []
  #now = 0
  #order = 0

  get now(): number {
    return this.#now
  }

  /** Waits for so long. */
  readonly pass =
    (ms: number): Wait =>
    (goOn) =>
      this.at(this.#now + ms, goOn)

  at(at: number, work: () => void): void {
    addToHeap(this.#due, { at, order: (this.#order += 1), work }, isBefore)
  }

  /** Runs a process from now on, to its end or that of the simulation. */
  start(process: Process): void {
    const goOn = (): void => {
      const { value, done } = process.next()
      if (done !== true) value(goOn)
    }
    goOn()
  }

  /** Lets time pass up to `end`. */
  runUntil(end: number): void {
    for (let next = this.#due[0]; next !== undefined && next.at <= end; next = this.#due[0]) {
      takeFromHeap(this.#due, isBefore)
      this.#now = next.at
      next.work()
    }
    this.#now = end
  }
}
