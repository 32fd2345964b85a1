/** The tool that calls the tools which no request lists. */
export const callToolName = 'call_tool'
/** The tool that finds them by words. */
export const findToolsName = 'find_tools'

interface Called {
  readonly name: string
  readonly input: unknown
  readonly via?: string
}

/** Returns a call as the model made it: one that was made through `call_tool` has the tool and its arguments as the arguments. Pure. */
export const asCalled = ({ name, input, via }: Called): { readonly name: string; readonly input: unknown } =>
  via === undefined ? { name, input } : { name: via, input: { name, input } }
