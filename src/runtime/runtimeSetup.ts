import type { Logger } from '../protocol/ports/logger.ts'
import type { Redactor } from '../protocol/ports/redactor.ts'
import type { Store } from '../protocol/ports/store.ts'
import type { Agent } from './agents/agent.ts'
import type { HostShared } from './agents/hostOptions.ts'
import type { Interpreter } from './interpreter/interpreter.ts'

/** Everything that a runtime works with. `packages/runtime` makes it from the options of an application. */
export interface RuntimeSetup extends Pick<
  HostShared,
  'clock' | 'exportSession' | 'instead' | 'instrumentation' | 'models' | 'modelTurns' | 'random' | 'snapshots'
> {
  /** Closed with the runtime. */
  readonly store: Store
  /** True if what the store holds ends with the runtime. */
  readonly storeEnds: boolean
  /** Makes a store in memory, for the logs of incognito agents. */
  readonly memoryStore: () => Store
  readonly newId: () => string
  readonly logger?: Logger | undefined
  /** Set when the application has named secrets. */
  readonly redactor?: Redactor | undefined
  /** Makes a redactor without secrets, for those of sources of tools. */
  readonly newRedactor: () => Redactor
  readonly idleUnloadMs?: number | undefined
  readonly interpreter: Interpreter
  /** Is told of the runtime; returns a function that is called when it closes. */
  readonly watch: (runtime: { roots(): readonly Agent[] }) => () => void
}
