import { signal, type ReadonlySignal } from '@preact/signals'
import type { Clock } from '../../../../../../src/protocol/ports/clock.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import { nextMoment } from './landmarks.ts'

/** The log that a player plays, and the functions that show a moment of it. */
export interface PlayedLog {
  readonly clock: Clock
  /** Returns the current records: a growing log is played to its new end. */
  readonly records: () => readonly LogRecord[]
  /** `seq` of the moment shown; `null`: the newest. */
  readonly shown: () => number | null
  /** Shows a moment; `null`: the newest. It is shown when this returns. */
  readonly show: (at: number | null) => void
}

/** Plays the log record by record at a multiple of its own pace, with long waits cut. Stops at the end, and once another moment is chosen. */
export class TimePlayer {
  readonly #log: PlayedLog
  readonly #speed = signal<number | null>(null)
  #cancel = (): void => {}
  /** The moment that the player showed last. */
  #place: number | null = null

  constructor(log: PlayedLog) {
    this.#log = log
  }

  /** Speed as a multiple of the log's own; `null` while the player does not play. */
  get speed(): ReadonlySignal<number | null> {
    return this.#speed
  }

  /** Plays from the moment shown, or from the beginning if the log is at its end. */
  play(speed: number): void {
    this.pause()
    const { records, shown, show } = this.#log
    const at = shown()
    if (records().length === 0) return
    if (at === null || at >= records().length) show(1)
    this.#place = shown()
    this.#speed.value = speed
    this.#plan(speed)
  }

  /** Pauses the player. Idempotent. */
  pause(): void {
    this.#cancel()
    this.#speed.value = null
  }

  /** Takes the moment that is shown. A moment that the player did not choose stops it. */
  follow(at: number | null): void {
    if (this.#speed.peek() !== null && at !== this.#place) this.pause()
  }

  /** Closes the player. Idempotent. */
  close(): void {
    this.pause()
  }

  #plan(speed: number): void {
    const { clock, records } = this.#log
    const next = nextMoment(records(), this.#place ?? records().length, speed)
    if (next === undefined) return this.pause()
    this.#cancel = clock.after(next.afterMs, () => {
      const isEnd = next.seq >= records().length
      if (isEnd) this.pause()
      this.#place = isEnd ? null : next.seq
      this.#log.show(this.#place)
      if (!isEnd) this.#plan(speed)
    })
  }
}
