import type { EventOf } from '../../events.ts'
import { formatNodeId } from '../../text/nodeIds.ts'
import type { Telling } from '../telling.ts'
import { copiedSpans } from './copiedSpans.ts'

type Requested = EventOf<'graft.requested'>
type Applied = EventOf<'graft.applied'>

// Lines about grafts. Apart from `graftWords.ts`, as a page loads them only with the views that show them.

/** One line about an event. */
export const line = {
  'graft.requested': ({ request }: Requested, { short }: Telling) =>
    `${short(request.steps.join(', '))}, by the ${request.by}`,
  'graft.applied': ({ applied, copies, reason, economics }: Applied, { saved }: Pick<Telling, 'saved'>) =>
    applied
      ? `${copiedSpans(copies)}${saved(economics)}${reason === undefined ? '' : `; ${reason}`}`
      : `refused: ${reason ?? ''}`,
}

/** Lines of a terminal: what was done, and what was not. */
export const terminal = {
  'graft.applied': ({ applied, copies, reason, economics }: Applied, { saved }: Pick<Telling, 'saved'>) => ({
    done: applied ? `brought back: ${copiedSpans(copies)}${saved(economics)}` : undefined,
    refused: reason,
  }),
}

/** Remarks about what the agent had in view, below this heading. */
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

/** The change in a few words, and its first node. */
export const use = {
  'graft.applied': ({ copies }: Applied, { counted }: Pick<Telling, 'counted'>) => ({
    kind: 'graft' as const,
    what: counted(copies.length, 'message'),
    node: copies[0]?.nodeId,
  }),
}

export const changeLine = { graft: ({ copies }: Pick<Applied, 'copies'>) => `graft of ${copiedSpans(copies)}` }
