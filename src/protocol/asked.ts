import type { ProvenanceKind } from './provenance.ts'

/** Provenance of a prompt from another program, over MCP. A model may have written it, so no person vouches for it. */
export const ofProgram: ProvenanceKind = Object.freeze({ type: 'note', kind: 'mcp' })

/** Returns true if a message came from another program. */
export const isOfProgram = (provenance: ProvenanceKind | undefined): boolean =>
  provenance?.type === 'note' && provenance.kind === 'mcp'

/** Returns true if a person or another program sent the message, rather than code that added it for the model. */
export const isAsked = (provenance: ProvenanceKind | undefined): boolean =>
  provenance === undefined || isOfProgram(provenance)
