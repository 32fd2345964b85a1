import type { EventOf } from '../../../../../src/protocol/events.ts'
import { formatNodeId } from '../../../../../src/protocol/text/nodeIds.ts'
import type { Telling } from '../telling.ts'
import type { NodeId } from '../../../../../src/protocol/ids.ts'
import type { GraftOutcome } from '../../../../../src/protocol/brakes/graft/graftRecords.ts'

/** Describes copied nodes and their copies: `n12–n14 as n30–n32, n20 as n33`. */
function copiedSpans(copies: GraftOutcome['copies']): string {
  const spans: { from: NodeId; to: NodeId; first: NodeId; last: NodeId }[] = []
  for (const { nodeId, from } of copies) {
    const span = spans.at(-1)
    if (span !== undefined && from === span.to + 1) Object.assign(span, { to: from, last: nodeId })
    else spans.push({ from, to: from, first: nodeId, last: nodeId })
  }
  return spans.map(({ from, to, first, last }) => `${range(from, to)} as ${range(first, last)}`).join(', ')
}

const range = (from: NodeId, to: NodeId): string =>
  from === to ? formatNodeId(from) : `${formatNodeId(from)}–${formatNodeId(to)}`

type Requested = EventOf<'graft.requested'>
type Applied = EventOf<'graft.applied'>

// Lines about grafts. Apart from `graftWords.ts`, as a page loads them only with the views that show them.

/** One-line descriptions of an event. */
export const line = {
  'graft.requested': ({ request }: Requested, { short }: Telling) =>
    `${short(request.steps.join(', '))}, by the ${request.by}`,
  'graft.applied': ({ applied, copies, reason, economics }: Applied, { saved }: Pick<Telling, 'saved'>) =>
    applied
      ? `${copiedSpans(copies)}${saved(economics)}${reason === undefined ? '' : `; ${reason}`}`
      : `refused: ${reason ?? ''}`,
}

/** Lines for a terminal: the change, or why it was not made. */
export const terminal = {
  'graft.applied': ({ applied, copies, reason, economics }: Applied, { saved }: Pick<Telling, 'saved'>) => ({
    done: applied ? `brought back: ${copiedSpans(copies)}${saved(economics)}` : undefined,
    refused: reason,
  }),
}

/** Heading for remarks about the agent's view. */
export const heading = 'Grafts'

export const notes = {
  'graft.applied': ({ applied, requested, copies, reason }: Applied, { counted }: Pick<Telling, 'counted'>) =>
    applied
      ? {
          text: `${counted(copies.length, 'message')} brought back`,
          lines: copies.map(({ from, nodeId }) => `${formatNodeId(from)} came back as ${formatNodeId(nodeId)}`),
          node: copies[0]?.nodeId,
        }
      : {
          text: `${requested.join(', ')} did not come back: ${reason ?? 'no reason was given'}`,
          tone: 'warn' as const,
        },
}

/** Short description of the change, and its first node. */
export const use = {
  'graft.applied': ({ copies }: Applied, { counted }: Pick<Telling, 'counted'>) => ({
    kind: 'graft' as const,
    what: counted(copies.length, 'message'),
    node: copies[0]?.nodeId,
  }),
}

export const changeLine = { graft: ({ copies }: Pick<Applied, 'copies'>) => `graft of ${copiedSpans(copies)}` }
