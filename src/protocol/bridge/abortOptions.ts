export interface AbortOptions {
  /**
   * Calls in the background that end, too. `true`, the default: all of them; `'run'`: those that the run began; `false`: none, they work on and
   * report.
   */
  readonly background?: boolean | 'run' | undefined
}

/** Returns the field of the command `agent.abort`. */
export const abortFields = ({ background }: AbortOptions = {}): { readonly background?: false | 'run' } =>
  background === false || background === 'run' ? { background } : {}
