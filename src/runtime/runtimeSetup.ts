import type { Logger } from '../protocol/ports/logger.ts'
import type { Redactor } from '../protocol/ports/redactor.ts'
import type { Store } from '../protocol/ports/store.ts'
import type { Agent } from './agents/agent.ts'
import type { HostShared } from './agents/hostOptions.ts'
import type { Interpreter } from './interpreter/interpreter.ts'

/** Everything that a runtime needs. `packages/runtime` makes it from an application's options. */
export interface RuntimeSetup extends Pick<
  HostShared,
  'clock' | 'exportSession' | 'instead' | 'instrumentation' | 'models' | 'modelTurns' | 'random' | 'snapshots'
> {
  /** Store of the logs, closed with the runtime. */
  readonly store: Store
  /** True if the contents of the store end with the runtime. */
  readonly storeEnds: boolean
  /** Makes a store in memory, for the logs of incognito agents. */
  readonly memoryStore: () => Store
  readonly newId: () => string
  readonly logger?: Logger | undefined
  /** Set if the application has named secrets. */
  readonly redactor?: Redactor | undefined
  /** Makes a redactor without secrets, for the secrets of tool sources. */
  readonly newRedactor: () => Redactor
  readonly idleUnloadMs?: number | undefined
  readonly interpreter: Interpreter
  /** Receives the runtime, and returns a function to call when the runtime closes. */
  readonly watch: (runtime: { roots(): readonly Agent[] }) => () => void
}
