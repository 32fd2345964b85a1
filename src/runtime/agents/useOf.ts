import { offeredNames } from '../../actors/turn/offeredNames.ts'
import { modelIn } from '../../actors/turn/turnFrames.ts'
import type { UseEvent } from '../../machines/agentTypes.ts'
import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { ModelUse, UseChange } from '../../protocol/bridge/turns.ts'
import type { AgentHost } from './agentHost.ts'

/**
 * Returns the change that a `use` command makes, checked against the agent's definition.
 *
 * @throws RuntimeError `INVALID_OPTION`, `MODEL_NOT_FOUND`
 */
export function useOf(host: AgentHost, change: UseChange | null): UseEvent | null {
  if (change === null) return null
  const { instructions, tools, model } = change
  return {
    ...(instructions === undefined ? {} : { instructions }),
    ...(tools === undefined ? {} : { tools: tools === null ? null : toolsOf(host, tools) }),
    ...(model === undefined ? {} : { model: model === null ? null : modelOf(host, model) }),
  }
}

function toolsOf({ agentId, view: { definition } }: AgentHost, tools: readonly string[]): string[] {
  try {
    // It is for many turns, in which a source may have what it has not now.
    return offeredNames(definition, tools, definition.toolSources.length > 0)
  } catch (thrown) {
    throw new RuntimeError('INVALID_OPTION', `Agent "${agentId}", tools: ${messageOf(thrown)}`, { cause: thrown })
  }
}

/** Finds a model by its name or, if code gave it or it is the definition's own, by its id. */
function modelOf({ agentId, view: { definition }, lent }: AgentHost, name: string): ModelUse {
  const { models } = definition.turns
  const named = models.get(name)
  if (named !== undefined) return { id: named.model.id, name }
  if (modelIn(definition, lent, { id: name }) !== undefined) return { id: name }
  const there = models.size === 0 ? 'none' : `only ${[...models.keys()].join(', ')}`
  throw new RuntimeError('MODEL_NOT_FOUND', `Agent "${agentId}" has no model ${JSON.stringify(name)}, ${there}.`)
}
