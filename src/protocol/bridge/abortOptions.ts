export interface AbortOptions {
  /**
   * Background calls that end as well. `true`, the default: all of them. `'run'`: the calls that the run began.
   * `false`: none, so they continue and report.
   */
  readonly background?: boolean | 'run' | undefined
}

/** Returns the field of the command `agent.abort`. An invalid value is left for the command's schema to report. */
export function abortFields(options: AbortOptions | undefined): { readonly background?: false | 'run' } {
  const { background } = options ?? {}
  return background === undefined || background === true ? {} : { background }
}
