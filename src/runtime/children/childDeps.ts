import type { SubAgent } from '../../actors/define/agentDefinition.ts'
import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import { checkDeps, type RunDeps, runDepsOf } from './runDeps.ts'
import type { TreeAgent } from './treeAgent.ts'

/**
 * Returns the dependencies of a sub-agent: those of its caller's run, or the result of its entry's function for them. A called sub-agent
 * needs them at once; prompts may give them to others.
 *
 * @throws RuntimeError `DEPS_MISSING`, `INVALID_DEPS`, also if its entry throws
 */
export function childDeps(agent: SubAgent, parent: TreeAgent, isCalled: boolean): RunDeps | undefined {
  const what = `sub-agent of "${parent.agentId}"`
  const deps = agent.deps === null ? parent.deps : mapped(agent, parent)
  if (isCalled) checkDeps(agent.definition, deps, what)
  return runDepsOf(agent.definition, deps, what)
}

function mapped(agent: SubAgent, parent: TreeAgent): unknown {
  const { definition, deps } = agent
  const failed = (why: string, options?: ErrorOptions): RuntimeError =>
    new RuntimeError('INVALID_DEPS', `The deps of sub-agent "${definition.name}" could not be made: ${why}.`, options)
  let made: unknown
  try {
    made = deps!(parent.deps as never)
  } catch (thrown) {
    parent.announcer.callbackFailed(`deps for sub-agent "${agent.definition.name}"`, thrown)
    throw failed(messageOf(thrown), { cause: thrown })
  }
  if (made instanceof Promise) {
    made.catch(() => {})
    throw failed('its function returns a promise, which is not waited for')
  }
  return made
}
