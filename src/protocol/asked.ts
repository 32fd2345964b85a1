import type { ProvenanceKind } from './provenance.ts'

/** Of a prompt that came from another program, over MCP: its model may have written it, so no person vouches for it. */
export const ofProgram: ProvenanceKind = Object.freeze({ type: 'note', kind: 'mcp' })

/** Whether a message came from another program. */
export const isOfProgram = (provenance: ProvenanceKind | undefined): boolean =>
  provenance?.type === 'note' && provenance.kind === 'mcp'

/** Whether a message is what somebody asked, a person or another program, and not something that was added for the model. */
export const isAsked = (provenance: ProvenanceKind | undefined): boolean =>
  provenance === undefined || isOfProgram(provenance)
