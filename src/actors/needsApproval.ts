import type { AgentDefinition } from './agentDefinition.ts'
import type { RunContext } from './runContext.ts'
import { neverAsks } from './tools/defineTool.ts'

/**
 * Whether a person must approve a call; a predicate that throws or rejects means yes. Bad arguments and unknown tools need none: they are
 * answered with an error and never run.
 */
export function needsApproval(
  { tools }: Pick<AgentDefinition, 'tools'>,
  { name, input }: { readonly name: string; readonly input: unknown },
  context: () => RunContext<never>,
): boolean | Promise<boolean> {
  const tool = tools.get(name)
  if (tool === undefined || tool.needsApproval === neverAsks) return false
  const parsed = tool.parse(input)
  if (!parsed.ok) return false
  try {
    const answer = tool.needsApproval(parsed.value, context())
    return typeof answer === 'boolean' ? answer : Promise.resolve(answer).catch(() => true)
  } catch {
    return true
  }
}
