import { signal } from '@preact/signals'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'

/** Matches of a search in the agent that is shown: its nodes, and the `seq` of its records. */
export interface HitMarks {
  readonly nodes: ReadonlySet<NodeId>
  readonly records: ReadonlySet<number>
}

export const noMarks: HitMarks = { nodes: new Set(), records: new Set() }

/** Marks for the whole page: rows mark themselves, and the search is loaded when it is first opened. */
export const hitMarks = signal<HitMarks>(noMarks)
