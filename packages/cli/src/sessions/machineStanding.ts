import { counted } from '../../../charts/src/amounts.ts'
import { stateWords, timerWords } from '../../../charts/src/hostWords.ts'
import type { PendingTimer } from '../../../wire/src/hostView.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { PastReading, type HostPast } from '../../../xstate/src/hosts/hostPast.ts'

/** Status of a kept machine, according to its log. */
export interface MachineStanding {
  /** Status of the machine. `failed`: it ended with an error. */
  readonly status: 'active' | 'done' | 'failed'
  /** State value in the last kept snapshot, in XState's form. Missing if there is no snapshot yet. */
  readonly value?: unknown
  /** Number of events after that snapshot. */
  readonly events: number
  /** Delayed events that are still due, the earliest first. */
  readonly timers: readonly PendingTimer[]
}

/** Collects the machines among the logs that are read. */
export class MachineNotes {
  readonly #readings = new Map<string, PastReading>()

  /** Takes in the next record of a log. */
  note(id: string, record: LogRecord): void {
    if (record.type === 'host.created') this.#readings.set(id, new PastReading(record))
    this.#readings.get(id)?.note(record)
  }

  /** Returns the status of a machine; `undefined` for an agent's log. */
  standing(id: string): MachineStanding | undefined {
    const reading = this.#readings.get(id)
    return reading === undefined ? undefined : standingOf(reading.past)
  }
}

function standingOf({ done, snapshot, inputs, timers }: HostPast): MachineStanding {
  return {
    status: done === undefined ? 'active' : done.error === undefined ? 'done' : 'failed',
    ...(snapshot === undefined ? {} : { value: snapshot.snapshot['value'] }),
    events: inputs.length,
    timers:
      done === undefined
        ? [...timers.values()]
            .toSorted((a, b) => a.due - b.due)
            .map(({ id, event, due }) => ({ id, type: event.type, due }))
        : [],
  }
}

/** Describes the state of a machine in a few words: `open`, or `open, 2 events since`. */
export function machineWords({ status, value, events }: MachineStanding): string {
  if (status !== 'active') return status
  if (value === undefined) return events === 0 ? 'begun' : `begun, ${counted(events, 'event')} since`
  return `${stateWords(value)}${events === 0 ? '' : `, ${counted(events, 'event')} since`}`
}

/** Describes the delayed events that a machine waits for; empty if there are none. */
export function machineTimers({ timers }: MachineStanding, now: number): string {
  const [first, ...others] = timers
  if (first === undefined) return ''
  return `${timerWords(first, now)}${others.length === 0 ? '' : `, ${others.length} more`}`
}
