import type { DatabaseCosts } from './costs.ts'
import { Station } from './station.ts'
import type { Process, Timeline, Wait } from './timeline.ts'

/** At most so many agents share a statement, as in `postgresStore`. */
const mostInStatement = 256

interface Append {
  readonly records: number
  readonly goOn: () => void
}

/** A database of logs: cores that execute statements, and one WAL that is flushed for all commits which wait at the time. */
export class Database {
  readonly cores: Station
  readonly #flusher: Station
  readonly #timeline: Timeline
  readonly #costs: DatabaseCosts
  #unflushed: (() => void)[] = []
  #isFlushing = false
  #records = 0
  #statements = 0

  constructor(timeline: Timeline, cores: number, costs: DatabaseCosts) {
    this.#timeline = timeline
    this.#costs = costs
    this.cores = new Station(timeline, cores)
    this.#flusher = new Station(timeline, 1)
  }

  set isAway(value: boolean) {
    this.cores.isAway = value
    this.#flusher.isAway = value
  }

  get records(): number {
    return this.#records
  }

  get statements(): number {
    return this.#statements
  }

  get flushBusyMs(): number {
    return this.#flusher.busyMs
  }

  /** One statement that appends so many records of several agents, with the way there and back. */
  *statement(records: number): Process {
    const { roundTripMs, statementMs, recordMs } = this.#costs
    yield this.#timeline.pass(roundTripMs)
    yield this.cores.work(statementMs + recordMs * records)
    yield (goOn) => this.#flush(goOn)
    this.#records += records
    this.#statements += 1
  }

  /** Commits that come while the WAL is being flushed share the next flush. */
  #flush(goOn: () => void): void {
    this.#unflushed.push(goOn)
    if (!this.#isFlushing) this.#beginFlush()
  }

  #beginFlush(): void {
    const sharers = this.#unflushed
    this.#unflushed = []
    this.#isFlushing = true
    this.#flusher.work(this.#costs.flushMs)(() => {
      this.#isFlushing = false
      if (this.#unflushed.length > 0) this.#beginFlush()
      for (const goOn of sharers) goOn()
    })
  }
}

/** The connections of one worker: what waits goes with the next that is free, in one statement. */
export class ConnectionPool {
  readonly #timeline: Timeline
  readonly #database: Database
  #free: number
  #waiting: Append[] = []

  constructor(timeline: Timeline, database: Database, connections: number) {
    this.#timeline = timeline
    this.#database = database
    this.#free = connections
  }

  /** Waits until so many records are stored. */
  readonly append =
    (records: number): Wait =>
    (goOn) => {
      this.#waiting.push({ records, goOn })
      // With whatever else comes in the same turn of the process.
      if (this.#waiting.length === 1) this.#timeline.at(this.#timeline.now, () => this.#send())
    }

  #send(): void {
    while (this.#free > 0 && this.#waiting.length > 0) {
      this.#free -= 1
      this.#timeline.start(this.#carry(this.#waiting.splice(0, mostInStatement)))
    }
  }

  *#carry(appends: readonly Append[]): Process {
    yield* this.#database.statement(appends.reduce((sum, { records }) => sum + records, 0))
    this.#free += 1
    for (const { goOn } of appends) goOn()
    this.#send()
  }
}
