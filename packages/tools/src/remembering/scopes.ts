import { isMemoryScope, type MemoryScope } from '../../../../src/protocol/ports/memory.ts'
import { memoryTiers, type MemoryTier } from '../../../../src/protocol/remembered.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { AgentPorts } from '../../../../src/actors/agentPorts.ts'
import type { MemorySettings, NameOwner } from '../../../../src/actors/parts/memory/memoryOptions.ts'

/** The scopes of an agent's memories that are known at the moment, by tier. */
export interface Scopes {
  readonly known: ReadonlyMap<MemoryTier, MemoryScope>
  /** Returns the default scope of memories, which the fewest agents can see; `undefined` if they are kept nowhere. */
  readonly main: MemoryScope | undefined
}

/** Returns the tiers of a definition, beginning with the one that the fewest agents share. */
export const tiersOf = ({ agent, user, workspace }: MemorySettings): readonly MemoryTier[] => [
  ...(user === null ? [] : (['user'] as const)),
  ...(workspace === null ? [] : (['workspace'] as const)),
  ...(agent ? (['agent'] as const) : []),
]

export const tierOf = (scope: MemoryScope): MemoryTier => memoryTiers.find((tier) => scope.startsWith(`${tier}:`))!

/** The parts of an agent that determine the owner of its memories. */
export interface Place extends Pick<AgentPorts, 'agentId' | 'path' | 'metadata' | 'deps'> {
  readonly definition: Pick<AgentDefinition, 'name'>
}

/**
 * Returns the scopes of an agent. A tier for which no owner is known is left out, and no other scope takes its place.
 *
 * @throws errors of the definition's functions; Error for names that no scope can have.
 */
export function scopesOf(ports: Place, settings: MemorySettings): Scopes {
  const known = new Map<MemoryTier, MemoryScope>()
  const tiers = tiersOf(settings)
  for (const tier of tiers) {
    const id = tier === 'agent' ? ports.definition.name : nameOf(ports, settings[tier]!, tier)
    if (id === undefined) continue
    const scope = `${tier}:${id}`
    if (!isMemoryScope(scope))
      throw new Error(`memory.${tier}: ${JSON.stringify(id.slice(0, 80))} is no name: use 1 to 256 characters`)
    known.set(tier, scope)
  }
  return { known, main: known.get(tiers[0]!) }
}

function nameOf(
  { agentId, path, metadata = {}, deps }: Place,
  name: NameOwner<never>,
  tier: string,
): string | undefined {
  const id: unknown = name({ agent: { id: agentId, path }, metadata, deps: deps as never })
  if (id === undefined || typeof id === 'string') return id
  throw new Error(`memory.${tier} returned ${typeof id}, not a string`)
}
