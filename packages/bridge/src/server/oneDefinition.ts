import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'

/** Checks that an endpoint's definition is served. `label` names the endpoint. @throws RuntimeError `INVALID_OPTION` */
export function mustBeServed(label: string, definition: string, served: readonly string[]): void {
  if (served.includes(definition)) return
  const nearest = nearestWord(definition, served)
  const there = served.length === 0 ? 'serve was given none' : `there are: ${served.join(', ')}`
  const meant = nearest === undefined ? '' : `; did you mean "${nearest}"?`
  throw new RuntimeError(
    'INVALID_OPTION',
    `${label}: ${JSON.stringify(definition)} is not among the definitions of serve (${there}${meant}).`,
  )
}

/**
 * Checks that an agent has the definition of an endpoint; `undefined` allows all. `label` is the field that named the agent.
 * @throws RuntimeError `INVALID_OPTION`
 */
export function mustBeOf(definition: string | undefined, label: string, agent: Pick<Agent, 'id' | 'definition'>): void {
  if (definition === undefined || agent.definition === definition) return
  const what = `${label}: "${agent.id}" is an agent of "${agent.definition}", and this is for those of "${definition}".`
  throw new RuntimeError('INVALID_OPTION', what)
}
