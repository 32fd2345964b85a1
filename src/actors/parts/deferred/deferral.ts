import type { AnyTool } from '../../tools/defineTool.ts'

/** Tools of an agent that no request lists. */
export interface Deferral {
  /** Names of the tools. */
  readonly names: ReadonlySet<string>
  /** Sources all of whose tools are among them, as they come. */
  readonly sources: ReadonlySet<string>
}

export interface DeferredSetting {
  /** Set when some tools are found by words in place of being listed in each request. */
  readonly deferred: Deferral | null
}

interface Deferring extends DeferredSetting {
  readonly tools: ReadonlyMap<string, AnyTool>
}

/** Returns true for a tool that no request lists. */
export const isDeferred = ({ deferred, tools }: Deferring, name: string): boolean =>
  deferred !== null && deferred.names.has(name) && tools.has(name)

/** The tools that no request lists, in the order in which the definition has them. */
export const deferredTools = (definition: Deferring): readonly AnyTool[] =>
  definition.deferred === null
    ? nothing
    : [...definition.tools.values()].filter(({ name }) => isDeferred(definition, name))

const nothing: readonly never[] = Object.freeze([])
