import type { Journal } from './journal.ts'
import { keptJson, type KeptState, type MachineState } from './machineState.ts'
import { Replica, type InputRecord, type KeptMachine } from './replica.ts'
import { checkTrail, type Trail } from './replay.ts'

/** Number of events after which a snapshot is written. */
export const snapshotAfter = 50

/** Writes the snapshots of one machine, and checks each against a replay of the events since the one before. */
export class Keeping {
  readonly #kept: KeptMachine
  readonly #version: string | undefined
  readonly #journal: Journal
  /** Makes the state at which the trail begins. */
  #begin: () => Replica
  #trail: Trail[] = []

  /** `begin`: makes a replica of the machine's present state. */
  constructor(kept: KeptMachine, version: string | undefined, journal: Journal, begin: () => Replica) {
    this.#kept = kept
    this.#version = version
    this.#journal = journal
    this.#begin = begin
  }

  /** Number of events since the last snapshot. */
  get length(): number {
    return this.#trail.length
  }

  /** Adds an event with the fingerprint of the state after it. */
  note(record: InputRecord, print: string): void {
    this.#trail.push({ record, print })
  }

  /**
   * Appends a snapshot of a state.
   * @throws RuntimeError `MACHINE_IMPURE`, `MACHINE_REFUSED`; then nothing is written
   */
  write(state: MachineState, upto: number): void {
    checkTrail(this.#kept, this.#begin(), this.#trail)
    const { name, machine } = this.#kept
    const kept = keptJson(name, machine, state)
    this.#journal.append({ type: 'host.snapshot', upto, machine: name, ...versionOf(this.#version), snapshot: kept })
    this.#goOn(kept)
  }

  #goOn(kept: KeptState): void {
    this.#begin = () => Replica.from(this.#kept, kept)
    this.#trail = []
  }
}

/** Returns the `version` field of a record; no field without a version. */
export const versionOf = (version: string | undefined): { version?: string } =>
  version === undefined ? {} : { version }
