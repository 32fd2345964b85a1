export interface AbortOptions {
  /**
   * Calls in the background that end, too. `true`, the default: all of them; `'run'`: those that the run began; `false`: none, they work on and
   * report.
   */
  readonly background?: boolean | 'run' | undefined
}

/** Returns the field of the command `agent.abort`; a value that is none is left to the check of the command. */
export function abortFields(options: AbortOptions | undefined): { readonly background?: false | 'run' } {
  const { background } = options ?? {}
  return background === undefined || background === true ? {} : { background }
}
