/** Agent and run for which code of the application is called, as passed to its functions. */
export interface RunContext<out Deps = unknown> {
  /** `path`: ids of its ancestors, root first. */
  readonly agent: { readonly id: string; readonly path: readonly string[] }
  readonly runId: string
  /** Index of the turn among all turns of the agent, from 0. */
  readonly turnIndex: number
  /**
   * Value that the application gave to the run: the same object, never a copy. It is in no log, event or request. `undefined` if nothing
   * was given.
   */
  readonly deps: Deps
  /** Aborted when the run is aborted, the agent stops or the time for the call is up. */
  readonly signal: AbortSignal
}

interface Place {
  readonly agentId: string
  readonly path: readonly string[]
  readonly deps: unknown
}

/** Returns the context of one call of the application's code. Made when the call starts: later the agent may be in another run. */
export const runContext = (
  { agentId, path, deps }: Place,
  { runId, turnIndex }: Pick<RunContext, 'runId' | 'turnIndex'>,
  source: { readonly signal: AbortSignal },
): RunContext<never> => ({
  agent: { id: agentId, path },
  runId,
  turnIndex,
  // Its type was checked where the definition was made; here it is only passed on.
  deps: deps as never,
  signal: source.signal,
})
