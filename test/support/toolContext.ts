import type { ToolContext } from '../../src/actors/tools/defineTool.ts'
import { stateDoor } from '../../src/actors/parts/state/stateDoor.ts'
import { MemorySnapshots } from '../../packages/stores/src/memory/memorySnapshots.ts'
import { snapshotsOf } from './snapshotsOf.ts'

/** A context for calling a tool's `run` by hand, with everything it reported and changed. */
export interface RecordedToolContext extends ToolContext {
  readonly reports: readonly unknown[]
  readonly changes: readonly string[]
  /** True if the tool asked that its result stay in the context. */
  isPinned: boolean
  readonly receipts: readonly { readonly of?: string | undefined; readonly data: unknown }[]
  /** Data that the tool gave to the application, by name. */
  readonly given: ReadonlyMap<string, unknown>
}

/** Makes one; `onReport` is called after each report. */
export function toolContext(
  options: {
    readonly signal?: AbortSignal
    readonly onReport?: (progress: unknown) => void
    readonly snapshots?: ToolContext['snapshots']
  } = {},
): RecordedToolContext {
  const reports: unknown[] = []
  const changes: string[] = []
  const receipts: { of?: string | undefined; data: unknown }[] = []
  const given = new Map<string, unknown>()
  return {
    signal: options.signal ?? new AbortController().signal,
    callId: 'call-1',
    key: 'agent-1/t0/tool/call-1',
    agent: { id: 'agent-1', path: [] },
    runId: 'agent-1/r1',
    turnIndex: 0,
    deps: undefined,
    reports,
    changes,
    receipts,
    given,
    isPinned: false,
    state: stateDoor({ agentId: 'agent-1' }, { by: 'tool' }),
    pin() {
      this.isPinned = true
    },
    snapshots: options.snapshots ?? snapshotsOf(new MemorySnapshots()),
    keep: (data, of) => void receipts.push({ of, data }),
    give: (data, name = '') => void given.set(name, data),
    ask: () => Promise.reject(new Error('Nobody was to be asked.')),
    changed: (path) => void changes.push(path),
    leaves: async () => {},
    closeWith: () => false,
    report: (progress) => {
      reports.push(progress)
      options.onReport?.(progress)
    },
  }
}
