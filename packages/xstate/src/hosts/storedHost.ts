import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { HostPast } from './hostPast.ts'
import type { HostView } from '../../../wire/src/hostView.ts'
import type { AnyMachine, HostRules } from './hostTypes.ts'
import { viewOf } from './hostView.ts'
import { failed } from './machineState.ts'
import type { KeptMachine } from './replica.ts'
import { replayed } from './replay.ts'
import { byDue } from './timers.ts'

/** A machine read from its log, because it has ended or is only viewed. The log is not locked, and nothing runs. */
export class StoredHost {
  readonly id: string
  readonly definition: AnyMachine
  readonly ref: unknown
  readonly snapshot: unknown
  readonly view: HostView
  readonly done: Promise<unknown>
  readonly isAttended = false

  /** @throws RuntimeError `MACHINE_CHANGED`, `MACHINE_IMPURE`, `MACHINE_REFUSED` */
  constructor(kept: KeptMachine, rules: HostRules, past: HostPast) {
    const { done, seq } = past
    const timers = done === undefined ? byDue(past.timers.values()) : []
    const { state, actor } = replayed(kept, rules, { ...past, handled: Infinity })
    this.id = kept.hostId
    this.definition = kept.machine
    this.ref = actor
    this.snapshot = state
    this.view = viewOf({ ...kept, version: rules.version, state, seq, timers, isHere: true })
    const error = done?.error
    this.done = error === undefined ? Promise.resolve(done?.output) : Promise.reject(failed(this.id, error.message))
    this.done.catch(() => {})
  }

  async send(): Promise<void> {
    throw new RuntimeError('MACHINE_CLOSED', `Machine "${this.id}" has come to its end.`)
  }

  attend(): void {}

  onStep(): () => void {
    return () => {}
  }

  async ready(): Promise<void> {}

  async settled(): Promise<void> {}

  async close(): Promise<void> {}
}
