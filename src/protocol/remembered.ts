import type { ProvenanceKind } from './provenance.ts'

/** Who shares a memory: all agents of a definition, those that work for one user, or those that work in one place. */
export const memoryTiers = ['agent', 'user', 'workspace'] as const
export type MemoryTier = (typeof memoryTiers)[number]

/** Whether a message is what an agent remembered when a run began: nobody said it now. Other tiers are the application's own. */
export const isRemembered = (
  provenance: ProvenanceKind | undefined,
): provenance is Extract<ProvenanceKind, { type: 'memoryTier' }> =>
  provenance?.type === 'memoryTier' && (memoryTiers as readonly string[]).includes(provenance.tier)
