import { isFields } from '../../../protocol/checks/isObject.ts'
import { cloneJson } from '../../../protocol/checks/cloneJson.ts'
import { callToolName } from '../../../protocol/viaCallTool.ts'
import type { AgentDefinition } from '../../define/agentDefinition.ts'
import { isDeferred } from './deferral.ts'

interface Call {
  readonly name: string
  readonly input: unknown
  readonly via?: typeof callToolName
}

/**
 * Returns a call that a model makes through `call_tool` as the call of the tool that it names. Any other call stays as
 * it is, and so does a call with a name that no deferred tool has. Pure.
 */
export function innerCall(definition: Pick<AgentDefinition, 'tools' | 'agents' | 'deferred'>, call: Call): Call {
  if (call.name !== callToolName || definition.deferred === null || !isFields(call.input)) return call
  const { name, input, ...others } = call.input
  if (typeof name !== 'string' || !isDeferred(definition, name)) return call
  // What stands beside the arguments is an argument in the wrong place: it must not be lost.
  if (input === undefined || Object.keys(others).length > 0) return call
  return { name, input: typeof input === 'string' ? parsed(input) : input, via: callToolName }
}

/** Reads arguments that a model wrote as text within arguments. Text that is nested too deeply for a log stays text. */
function parsed(text: string): unknown {
  try {
    const value = cloneJson(JSON.parse(text))
    return isFields(value) ? value : text
  } catch {
    return text
  }
}
