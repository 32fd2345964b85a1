import { isMemoryScope, type MemoryScope } from '../../protocol/memory.ts'
import { memoryTiers, type MemoryTier } from '../../protocol/remembered.ts'
import type { AgentDefinition } from '../agentDefinition.ts'
import type { AgentPorts } from '../agentPorts.ts'
import type { MemorySettings, NameOwner } from './memoryOptions.ts'

/** Whose memories an agent has: the scopes that are known at the moment, by tier. */
export interface Scopes {
  readonly known: ReadonlyMap<MemoryTier, MemoryScope>
  /** Where something is kept of which nothing else is said: with the fewest who could see it. `undefined`: nowhere. */
  readonly main: MemoryScope | undefined
}

/** The tiers that a definition has, those that the fewest share first. */
export const tiersOf = ({ agent, user, workspace }: MemorySettings): readonly MemoryTier[] => [
  ...(user === null ? [] : (['user'] as const)),
  ...(workspace === null ? [] : (['workspace'] as const)),
  ...(agent ? (['agent'] as const) : []),
]

export const tierOf = (scope: MemoryScope): MemoryTier => memoryTiers.find((tier) => scope.startsWith(`${tier}:`))!

/** What says whose an agent's memories are. */
export interface Place extends Pick<AgentPorts, 'agentId' | 'path' | 'metadata' | 'deps'> {
  readonly definition: Pick<AgentDefinition, 'name'>
}

/**
 * The scopes of an agent. What is not known of whom it works for is in no other scope instead.
 *
 * @throws what the functions of the definition throw; Error for names that no scope can have.
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
