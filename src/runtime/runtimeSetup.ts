import type { LimitedModels } from '../actors/models/openStream.ts'
import type { Clock } from '../protocol/ports/clock.ts'
import type { Logger } from '../protocol/ports/logger.ts'
import type { Redactor } from '../protocol/ports/redactor.ts'
import type { SnapshotStore } from '../protocol/ports/snapshots.ts'
import type { Store } from '../protocol/ports/store.ts'
import type { Tracer } from '../protocol/ports/tracer.ts'
import type { Agent } from './agents/agent.ts'
import type { HostShared } from './agents/hostOptions.ts'
import type { Interpreter } from './interpreter/interpreter.ts'

/** Everything that a runtime works with. `packages/runtime` makes it from the options of an application. */
export interface RuntimeSetup extends Pick<HostShared, 'instead'> {
  /** Closed with the runtime. */
  readonly store: Store
  /** True if what the store holds ends with the runtime. */
  readonly storeEnds: boolean
  /** Makes a store in memory, for the logs of incognito agents. */
  readonly memoryStore: () => Store
  /** Snapshots, for a store that keeps none. */
  readonly snapshots: SnapshotStore
  readonly clock: Clock
  /** Random numbers from 0 to 1 for the jitter of retries. */
  readonly random: () => number
  readonly newId: () => string
  readonly logger?: Logger | undefined
  /** Tracing and logging, whose errors harm no run; set when there is a tracer or a logger. */
  readonly instrumentation?: Required<Tracer> | undefined
  /** Set when the application has named secrets. */
  readonly redactor?: Redactor | undefined
  /** Makes a redactor without secrets, for those of sources of tools. */
  readonly newRedactor: () => Redactor
  readonly idleUnloadMs?: number | undefined
  /** Limits on model calls; set when there are any. */
  readonly models?: LimitedModels | undefined
  /** Key of metadata by whose values agents take turns there. */
  readonly modelTurns?: string | undefined
  readonly interpreter: Interpreter
  /** Is told of the runtime; returns a function that is called when it closes. */
  readonly watch: (runtime: { roots(): readonly Agent[] }) => () => void
}
