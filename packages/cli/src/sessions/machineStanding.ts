import { counted } from '../../../charts/src/amounts.ts'
import { stateWords, timerWords } from '../../../charts/src/hostWords.ts'
import type { PendingTimer } from '../../../wire/src/hostView.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { PastReading, type HostPast } from '../../../xstate/src/hosts/hostPast.ts'

/** How a machine that is kept stands, by its log alone. */
export interface MachineStanding {
  /** `failed`: the machine came to its end with an error. */
  readonly status: 'active' | 'done' | 'failed'
  /** Its states when a snapshot was last kept, as XState writes them; missing: none was yet. */
  readonly value?: unknown
  /** Number of events after that snapshot. */
  readonly events: number
  /** Delayed events that have yet to come, the earliest first. */
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

  /** How a machine stands; `undefined` for the log of an agent. */
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

/** The state of a machine in a few words: `open`, or `open, 2 events since`. */
export function machineWords({ status, value, events }: MachineStanding): string {
  if (status !== 'active') return status
  if (value === undefined) return events === 0 ? 'begun' : `begun, ${counted(events, 'event')} since`
  return `${stateWords(value)}${events === 0 ? '' : `, ${counted(events, 'event')} since`}`
}

/** The delayed events that a machine waits for, in words; empty without any. */
export function machineTimers({ timers }: MachineStanding, now: number): string {
  const [first, ...others] = timers
  if (first === undefined) return ''
  return `${timerWords(first, now)}${others.length === 0 ? '' : `, ${others.length} more`}`
}
