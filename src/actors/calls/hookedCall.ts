import type { CallInput } from '../../machines/effectTypes.ts'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import type { AgentPorts } from '../agentPorts.ts'
import type { HookedCall } from '../define/hooks.ts'
import { stateDoor } from '../parts/state/stateDoor.ts'
import { runContext } from './runContext.ts'
import { taskOf } from '../define/subAgents.ts'

type Checked = { readonly ok: true } | { readonly ok: false; readonly message: string }

/** Checks arguments against the schema of the tool or sub-agent that is called; `undefined` if there is none of that name. */
export function checkArguments({ definition }: AgentPorts, name: string, input: unknown): Checked | undefined {
  const agent = definition.agents.get(name)
  return agent === undefined ? definition.tools.get(name)?.parse(input) : taskOf(agent, input)
}

/** Returns true if a call that may go to the background has arguments that do not fit: it is answered at once. */
export const misfits = (ports: AgentPorts, { name, input }: Pick<CallInput, 'name' | 'input'>): boolean =>
  ports.definition.tools.get(name)?.background !== undefined && checkArguments(ports, name, input)?.ok === false

/** Returns a call in the form for hooks. */
export function hookedCall(
  ports: AgentPorts,
  { callId, key, name, input, runId, turnIndex }: CallInput,
  signal: AbortSignal,
  hook: 'beforeTool' | 'afterTool',
): HookedCall<never> {
  const effects = ports.definition.tools.get(name)?.effects
  return {
    ...runContext(ports, { runId, turnIndex }, { signal }),
    callId,
    key,
    type: effects === undefined ? 'agent' : 'tool',
    name,
    input: cloneJson(input),
    ...(effects === undefined ? {} : { effects }),
    state: stateDoor(ports, { by: 'code', callId, hook }),
  }
}
