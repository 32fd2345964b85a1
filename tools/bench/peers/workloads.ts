import type { Workload } from './workload.ts'
import { abortWorkload } from './workloads/abort.ts'
import { crowdWorkload, idleWorkload, liveWorkload } from './workloads/crowd.ts'
import { deltaWorkload } from './workloads/delta.ts'
import { historyWorkload } from './workloads/history.ts'
import { memoryWorkload } from './workloads/memory.ts'
import { parallelToolsWorkload } from './workloads/parallelTools.ts'
import { startWorkload } from './workloads/start.ts'
import { storeWorkload } from './workloads/store.ts'
import { nestingWorkload, subAgentWorkload } from './workloads/subAgents.ts'
import { turnWorkload } from './workloads/turn.ts'

/** Everything that is measured, in the order of the table. */
export const workloads: readonly Workload[] = [
  turnWorkload(10),
  turnWorkload(100),
  turnWorkload(1_000),
  memoryWorkload(1_000),
  deltaWorkload(20_000),
  crowdWorkload(1_000, 'own'),
  crowdWorkload(1_000, 'shared'),
  liveWorkload(200, 'own'),
  liveWorkload(200, 'shared'),
  idleWorkload(1_000, 'own'),
  idleWorkload(1_000, 'shared'),
  subAgentWorkload(100),
  nestingWorkload(10),
  abortWorkload(100, 'streaming'),
  abortWorkload(100, 'model'),
  abortWorkload(100, 'tool'),
  parallelToolsWorkload(100),
  historyWorkload(2_000, 'loop', 50),
  historyWorkload(2_000, 'chat', 50),
  // How a turn grows with what was said, for those where it takes no minutes.
  historyWorkload(1_000, 'loop', 50, ['floor', 'xstate', 'pi', 'piBefore', 'escapement']),
  historyWorkload(10_000, 'loop', 50, ['floor', 'xstate', 'pi', 'piBefore', 'escapement']),
  storeWorkload(undefined),
  storeWorkload('os'),
  storeWorkload('batch'),
  storeWorkload('each'),
  startWorkload,
]
