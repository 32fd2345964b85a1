import type { Clock } from '../../protocol/ports/clock.ts'
import type { Logger } from '../../protocol/ports/logger.ts'
import type { SourceInfo } from '../../protocol/toolsChange.ts'
import type { Redactor } from '../../protocol/ports/redactor.ts'
import type { AnyTool } from './defineTool.ts'

/**
 * A source of tools that are not known when an agent is defined, or that change later, such as a server or a folder. It is an entry
 * of an agent's `tools`. Agents with the same object share its connection. Each agent's log records the tools offered in each turn.
 */
export interface ToolSource {
  /** Name in logs, in errors and on the page, and prefix for a tool whose name is taken. 1 to 64 letters, digits, `_` or `-`. */
  readonly source: string
  /**
   * Values of at least 6 characters that no log, event or span may show, such as tokens: the runtime blanks them as `[redacted:<source>]`
   * from the moment it has an agent with this source, whether or not it has `redact`.
   */
  readonly secrets?: readonly string[]
  /** Number of tools above which they are deferred: requests list `find_tools` and `call_tool` instead. Default: never. */
  readonly deferAbove?: number
  /**
   * Opens a connection. Called when the first turn of an agent in a runtime needs it, and again after it was closed because
   * no agent used it. Should not throw: problems are reported as `trouble`. If it does, it is tried again in the next turn.
   */
  open(host: SourceHost): ToolConnection
}

/** The runtime as the sources of its agents see it. */
export interface SourceHost {
  readonly clock: Clock
  readonly logger?: Logger | undefined
  /** Redactor with the secrets of the source and others; `undefined` while nothing is to be blanked. */
  readonly redactor?: Redactor | undefined
  /**
   * Adds secrets for the runtime to blank from now on, which the source is given while it is open, such as tokens that
   * it renews. The newest 256 count. Every runtime has it.
   */
  readonly hide?: (secrets: readonly string[]) => void
}

/** State of a source, for people. */
export interface SourceStatus {
  readonly state: SourceInfo['state']
  /** Start of the state, in milliseconds since the epoch. */
  readonly since: number
  /** Reason why the source is not up, or the tools that were left out, in one line. */
  readonly trouble?: string
}

/** An open connection to a source. */
export interface ToolConnection {
  /**
   * Current tools of the source: the same array until they change. They count while the state is `up`. In every other state, agents
   * keep the tools that they were offered last, and a call of a tool that is still there is run and should fail with the reason.
   */
  readonly tools: readonly AnyTool[]
  /**
   * Text about the source in the system prompt, at most 200,000 characters: a longer one is refused. A change is
   * recorded like a change of the tools.
   */
  readonly instructions?: string | undefined
  /** Reason why the source is not up, or the tools that were left out; `undefined` if there is no problem. */
  readonly trouble?: string | undefined
  /**
   * Resolves once the source knows its tools, or has given up for now. Never rejects: problems are reported as `trouble`. It is called before
   * every turn, so it resolves at once when nothing is under way. A turn waits for it for 15 seconds, and not again while it has not settled.
   */
  ready(signal: AbortSignal): Promise<void>
  status(): SourceStatus
  /** Closes the connection, and resolves once nothing of it runs any more. A closing runtime waits for it for 10 seconds. */
  close(): Promise<void>
}

export const isToolSource = (entry: unknown): entry is ToolSource =>
  typeof entry === 'object' &&
  entry !== null &&
  'open' in entry &&
  typeof entry.open === 'function' &&
  'source' in entry &&
  typeof entry.source === 'string'
