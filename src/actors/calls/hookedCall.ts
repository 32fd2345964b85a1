import type { CallInput } from '../../machines/effectTypes.ts'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import type { AgentPorts } from '../agentPorts.ts'
import type { HookedCall } from '../define/hooks.ts'
import { stateDoor } from '../parts/state/stateDoor.ts'
import { runContext } from './runContext.ts'

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
