import type { ProvenanceKind } from './provenance.ts'

/** The agents that share a memory: all agents of a definition, those that work for one user, or those that work in one place. */
export const memoryTiers = ['agent', 'user', 'workspace'] as const
export type MemoryTier = (typeof memoryTiers)[number]

/**
 * Returns true if a message is a memory that an agent recalled when a run began, and no message of that run. Other tiers are the application's own.
 */
export const isRemembered = (
  provenance: ProvenanceKind | undefined,
): provenance is Extract<ProvenanceKind, { type: 'memoryTier' }> =>
  provenance?.type === 'memoryTier' && (memoryTiers as readonly string[]).includes(provenance.tier)
