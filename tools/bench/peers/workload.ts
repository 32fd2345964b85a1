import type { Contender, Host } from './contender.ts'
import type { ContenderName } from './contenders.ts'
import type { Seen } from './script.ts'

/** A figure of a cell; `null`: it never came to an end. */
export type Figures = Readonly<Record<string, number | null>>

/** How one figure is printed. */
export interface Row {
  /** Name of the figure. */
  readonly figure: string
  readonly title: string
  readonly unit: string
}

/** Does the measured part of a batch and throws when other work was done than asked. */
export type Batch = () => Promise<void>

/** CPU time of a batch, divided by what it consists of. */
export interface TimedWorkload {
  readonly type: 'timed'
  readonly name: string
  readonly title: string
  readonly unit: 'µs' | 'ns'
  /** Such as `turn`. */
  readonly per: string
  /** How many of them a batch has. */
  readonly units: number
  /** Calls of the model in a batch. */
  readonly calls: number
  /** Batches that are measured after a short warm-up. */
  readonly batches: number
  /** Warms up in its place, where a batch is too long for that. */
  readonly warmUp?: TimedWorkload
  /** Prepares a batch, unmeasured. */
  prepare(host: Host): Promise<Batch>
  /** Contenders that do it; default: all. */
  readonly only?: readonly ContenderName[]
}

/** Anything else that is measured in a process of its own. */
export interface MeasuredWorkload {
  readonly type: 'measured'
  readonly name: string
  readonly rows: readonly Row[]
  /** `load` imports the contender; `warm` does what the cell was asked to do before. */
  measure(load: () => Promise<Contender>, warm: (host: Host) => Promise<void>): Promise<Figures>
  readonly only?: readonly ContenderName[]
}

export type Workload = TimedWorkload | MeasuredWorkload

/** Rows of its figures. */
export const rowsOf = (workload: Workload): readonly Row[] =>
  workload.type === 'measured'
    ? workload.rows
    : [{ figure: 'cpu', title: workload.title, unit: `${workload.unit}/${workload.per}` }]

/** Throws unless exactly this was seen. */
export function verify(seen: Readonly<Record<string, unknown>>, asked: Readonly<Record<string, unknown>>): void {
  const wrong = Object.keys(asked).filter((key) => seen[key] !== asked[key])
  if (wrong.length > 0)
    throw new Error(
      `other work was done than asked: ${wrong.map((key) => `${key} ${String(seen[key])}, not ${String(asked[key])}`).join('; ')}`,
    )
}

/** Counts of the mocks as plain values. */
export const counted = ({ asked, deltas, tools }: Seen): Record<string, number> => ({ asked, deltas, tools })
