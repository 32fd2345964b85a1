import type { AgentPorts } from '../agentPorts.ts'
import type { RunContext } from './runContext.ts'
import { neverAsks } from '../tools/defineTool.ts'

/**
 * Returns true if a person must approve a call; a predicate that throws or rejects means yes. Bad arguments and unknown tools need no
 * approval: they are answered with an error and never run.
 */
export function needsApproval(
  ports: Pick<AgentPorts, 'definition' | 'callbackFailed'>,
  { name, input }: { readonly name: string; readonly input: unknown },
  context: () => RunContext<never>,
): boolean | Promise<boolean> {
  const tool = ports.definition.tools.get(name)
  if (tool === undefined || tool.needsApproval === neverAsks) return false
  const parsed = tool.parse(input)
  if (!parsed.ok) return false
  const failed = (thrown: unknown): true => {
    ports.callbackFailed?.(`needsApproval of tool "${name}"`, thrown)
    return true
  }
  try {
    const answer = tool.needsApproval(parsed.value, context())
    return typeof answer === 'boolean' ? answer : Promise.resolve(answer).catch(failed)
  } catch (thrown) {
    return failed(thrown)
  }
}
