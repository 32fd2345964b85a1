import type { Workload } from './workload.ts'
import { deltaWorkload } from './workloads/delta.ts'
import { turnWorkload } from './workloads/turn.ts'

/** Everything that is measured, in the order of the table. */
export const workloads: readonly Workload[] = [
  turnWorkload(10),
  turnWorkload(100),
  turnWorkload(1_000),
  deltaWorkload(20_000),
]
