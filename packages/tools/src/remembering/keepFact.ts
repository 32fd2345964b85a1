import type { Memory, MemoryRecord, MemoryScope } from '../../../../src/protocol/ports/memory.ts'
import type { FactToKeep } from '../../../../src/actors/define/policy.ts'
import type { FactPlace } from '../../../../src/actors/parts/memory/remembering.ts'
import { scopesOf } from './scopes.ts'
import { mayBeTainted } from './taint.ts'
import { recordOf } from './writing.ts'

/**
 * Keeps a fact from a conversation. Returns `null` if nothing was kept because the agent is incognito, its user is unknown, or the text is empty.
 * Rejects as `put` does, and with errors of the definition's functions.
 */
export async function keepFact(
  place: FactPlace,
  memory: Memory,
  { key, text, scope = scopeOf(place), kind = 'fact', isOfRuntime }: FactToKeep,
  hasHeardMore = false,
): Promise<MemoryRecord | null> {
  if (scope === undefined || place.incognito === true) return null
  const tainted = isOfRuntime === true ? place.path.length > 0 : hasHeardMore || mayBeTainted(place)
  const draft = { scope, kind, text, by: 'extraction', tainted, about: key } as const
  const record = recordOf(place, draft, place.conversation.trunk().at(-1)?.runId)
  return record.text === '' ? null : await memory.put(record)
}

function scopeOf(place: FactPlace): MemoryScope | undefined {
  const { memory, name } = place.definition
  return memory === null ? `agent:${name}` : scopesOf(place, memory).main
}
