import type { Timeline, Wait } from './timeline.ts'

interface Job {
  readonly ms: number
  readonly goOn: () => void
}

/** A list from which is taken at the front, at the same price however long it is. */
class Line<T> {
  #items: T[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  add(item: T): void {
    this.#items.push(item)
  }

  take(): T | undefined {
    const item = this.#items[this.#head]
    if (item === undefined) return undefined
    this.#head += 1
    if (this.#head > 1_024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}

/** Servers that work on one job each, in the order in which they came: the cores of a machine, the partitions of an engine. */
export class Station {
  readonly servers: number
  readonly #timeline: Timeline
  readonly #waiting = new Line<Job>()
  #working = 0
  /** Working time of all servers, in milliseconds. */
  #busyMs = 0
  #longest = 0
  #isAway = false

  constructor(timeline: Timeline, servers: number) {
    this.#timeline = timeline
    this.servers = servers
  }

  /** Waits for a server and has it work for so long. */
  readonly work =
    (ms: number): Wait =>
    (goOn) => {
      this.#waiting.add({ ms, goOn })
      this.#longest = Math.max(this.#longest, this.#waiting.length)
      this.#begin()
    }

  /** It begins nothing new while it is away. */
  set isAway(value: boolean) {
    this.#isAway = value
    this.#begin()
  }

  /** Working time of its servers since the beginning, in milliseconds of one. */
  get busyMs(): number {
    return this.#busyMs
  }

  /** The most jobs that have waited at once. */
  get longest(): number {
    return this.#longest
  }

  #begin(): void {
    while (!this.#isAway && this.#working < this.servers) {
      const job = this.#waiting.take()
      if (job === undefined) return
      this.#working += 1
      this.#timeline.at(this.#timeline.now + job.ms, () => {
        this.#busyMs += job.ms
        this.#working -= 1
        job.goOn()
        this.#begin()
      })
    }
  }
}

/** So many may be inside at once; the others wait outside. */
export class Gate {
  readonly #places: number
  readonly #outside = new Line<() => void>()
  #inside = 0
  #most = 0
  #waited = 0

  constructor(places: number) {
    this.#places = places
  }

  readonly enter: Wait = (goOn) => {
    if (this.#inside < this.#places) {
      this.#inside += 1
      this.#most = Math.max(this.#most, this.#inside)
      goOn()
    } else {
      this.#waited += 1
      this.#outside.add(goOn)
    }
  }

  leave(): void {
    const next = this.#outside.take()
    if (next === undefined) this.#inside -= 1
    else next()
  }

  /** The most that were inside at once. */
  get most(): number {
    return this.#most
  }

  /** How often somebody had to wait outside. */
  get waited(): number {
    return this.#waited
  }
}
