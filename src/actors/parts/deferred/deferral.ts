import type { AnyTool } from '../../tools/defineTool.ts'

/** Tools of an agent that no request lists. */
export interface Deferral {
  readonly names: ReadonlySet<string>
  /** Sources whose tools are all among them, including those that come later. */
  readonly sources: ReadonlySet<string>
}

export interface DeferredSetting {
  /** Set if some tools are found by words instead of being listed in each request. */
  readonly deferred: Deferral | null
}

export interface Deferring<Called extends Deferrable = Deferrable> extends DeferredSetting {
  readonly tools: ReadonlyMap<string, AnyTool>
  readonly agents: ReadonlyMap<string, Called>
}

interface Deferrable {
  /** Set for a sub-agent that no request lists. */
  readonly isDeferred?: true
}

/** Returns true for a tool or a sub-agent that no request lists. */
export const isDeferred = ({ deferred, tools, agents }: Deferring, name: string): boolean =>
  deferred !== null && ((deferred.names.has(name) && tools.has(name)) || agents.get(name)?.isDeferred === true)

/** Returns the tools that no request lists, in the order of the definition. */
export const deferredTools = (definition: Omit<Deferring, 'agents'>): readonly AnyTool[] =>
  definition.deferred === null
    ? nothing
    : [...definition.tools.values()].filter(({ name }) => definition.deferred!.names.has(name))

/** Returns the sub-agents that no request lists, in the order of the definition. */
export const deferredAgents = <Called extends Deferrable>({ deferred, agents }: Deferring<Called>): readonly Called[] =>
  deferred === null ? nothing : [...agents.values()].filter((agent) => agent.isDeferred === true)

const nothing: readonly never[] = Object.freeze([])
