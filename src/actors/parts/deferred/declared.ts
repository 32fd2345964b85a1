import type { AgentDefinition, Callee } from '../../define/agentDefinition.ts'
import { outside } from '../../define/outside.ts'
import { taskOf } from '../../define/subAgents.ts'
import { isDeferred } from './deferral.ts'
import { foundSpecs } from './foundSpecs.ts'

type Finding = Pick<AgentDefinition, 'tools' | 'agents' | 'deferred'>

/**
 * Returns a text about arguments that do not fit, with the declaration of the tool if no request has it. The message's
 * last line is repeated at the end, because folds and evidence identify an error by it.
 */
export function withDeclaration(definition: Finding, name: string, message: string): string {
  if (!isDeferred(definition, name)) return message
  const last = message.trimEnd().split('\n').at(-1)!
  return [message, outside.declarationOf!(foundSpecs(definition).find((spec) => spec.name === name)!), last].join(
    '\n\n',
  )
}

/** Returns the task of a sub-agent's call as `taskOf` does, with the declaration if it is wrong and no request has the sub-agent. */
export function declaredTask(caller: Finding, agent: Callee, input: unknown): ReturnType<typeof taskOf> {
  const task = taskOf(agent, input)
  return task.ok ? task : { ...task, message: withDeclaration(caller, agent.definition.name, task.message) }
}
