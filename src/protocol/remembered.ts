import type { ProvenanceKind } from './provenance.ts'

/** The agents that share a memory: all agents of a definition, of one user, or of one workspace. */
export const memoryTiers = ['agent', 'user', 'workspace'] as const
export type MemoryTier = (typeof memoryTiers)[number]

/**
 * Returns true if a message is a memory recalled at the start of a run, rather than a message of that run. Other tiers belong to the application.
 */
export const isRemembered = (
  provenance: ProvenanceKind | undefined,
): provenance is Extract<ProvenanceKind, { type: 'memoryTier' }> =>
  provenance?.type === 'memoryTier' && (memoryTiers as readonly string[]).includes(provenance.tier)
