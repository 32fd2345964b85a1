/** Name of the tool that calls tools which requests do not list. */
export const callToolName = 'call_tool'
/** Name of the tool that finds such tools by keywords. */
export const findToolsName = 'find_tools'

interface Called {
  readonly name: string
  readonly input: unknown
  readonly via?: string
}

/** Returns a call as the model made it. For a call through `call_tool`, that is `call_tool` with the tool's name and input as its arguments. Pure. */
export const asCalled = ({ name, input, via }: Called): { readonly name: string; readonly input: unknown } =>
  via === undefined ? { name, input } : { name: via, input: { name, input } }
