import type { EventOf } from '../../events.ts'
import { formatNodeId } from '../../text/nodeIds.ts'
import { plainReason, type Narrated, type Telling } from '../telling.ts'
import { copiedSpans } from './copiedSpans.ts'

type Requested = EventOf<'graft.requested'>
type Applied = EventOf<'graft.applied'>

const idsOf = (copies: Applied['copies'], which: 'nodeId' | 'from'): string[] =>
  copies.map((copy) => formatNodeId(copy[which]))

const plain = { 'graft.requested': 'brake', 'graft.applied': 'brake' } as const

/** Words about grafts, by those who say them. */
export const graftWords = {
  /** Lines of the application's log: never content. */
  log: {
    'graft.requested': ({ request: { by } }: Requested): Narrated => ({
      level: 'debug',
      message: `graft asked for by the ${by}`,
      fields: { by },
    }),
    'graft.applied': (
      { applied, copies, reason, economics }: Applied,
      { counted }: Pick<Telling, 'counted'>,
    ): Narrated =>
      applied
        ? {
            level: 'info',
            message: `${counted(copies.length, 'node')} copied from abandoned branches`,
            fields: { copies: idsOf(copies, 'nodeId'), from: idsOf(copies, 'from'), ...economics },
          }
        : { level: 'warn', message: 'graft refused', fields: { reason: plainReason(reason) } },
  },
  /** Attributes of spans; `hasContent`: what was said may stand there. */
  spans: {
    'graft.requested': ({ request: { by, steps } }: Requested, hasContent: boolean) => ({
      'escapement.graft.by': by,
      ...(hasContent ? { 'escapement.graft.steps': [...steps] } : {}),
    }),
    'graft.applied': ({ applied, copies, reason }: Applied, hasContent: boolean) => ({
      'escapement.graft.applied': applied,
      'escapement.graft.copies': idsOf(copies, 'nodeId'),
      'escapement.graft.from': idsOf(copies, 'from'),
      'escapement.graft.reason': hasContent ? reason : plainReason(reason),
    }),
  },
  /** One line about an event. */
  line: {
    'graft.requested': ({ request }: Requested, { short }: Telling) =>
      `${short(request.steps.join(', '))}, by the ${request.by}`,
    'graft.applied': ({ applied, copies, reason, economics }: Applied, { saved }: Pick<Telling, 'saved'>) =>
      applied
        ? `${copiedSpans(copies)}${saved(economics)}${reason === undefined ? '' : `; ${reason}`}`
        : `refused: ${reason ?? ''}`,
  },
  /** Lines of a terminal: what was done, and what was not. */
  terminal: {
    'graft.applied': ({ applied, copies, reason, economics }: Applied, { saved }: Pick<Telling, 'saved'>) => ({
      done: applied ? `brought back: ${copiedSpans(copies)}${saved(economics)}` : undefined,
      refused: reason,
    }),
  },
  /** The part that clients see who may not see all. */
  visible: {
    'graft.requested': 'withheld',
    'graft.applied': ({ reason: _, economics: __, ...event }: Applied) => event,
  },
  /** Fields of a summary in a chat of `useChat`. */
  summary: { 'graft.applied': ({ requested }: Applied) => ({ steps: requested }) },
  /** The group of an event in lists. */
  group: plain,
  /** Reason that stands in a row of its own. */
  notice: { 'graft.applied': ({ reason }: Applied): string | undefined => reason },
  /** Remarks about what the agent had in view, below this heading. */
  heading: 'Grafts',
  notes: {
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
  },
  /** The change in a few words, and its first node. */
  use: {
    'graft.applied': ({ copies }: Applied, { counted }: Pick<Telling, 'counted'>) => ({
      kind: 'graft' as const,
      what: counted(copies.length, 'message'),
      node: copies[0]?.nodeId,
    }),
  },
  /** A remark in a chat, with its data: the client has seen what is copied where it was said. */
  chat: {
    'graft.applied': ({ id, copies }: Pick<Applied, 'id' | 'copies'>, { counted }: Pick<Telling, 'counted'>) => ({
      id: `graft-${id}`,
      text: `Brought ${counted(copies.length, 'message')} of an abandoned branch back.`,
      data: { type: 'graft', copies },
    }),
  },
  /** Fields of an applied one in a summary of a session. */
  change: {
    'graft.applied': ({ copies }: Pick<Applied, 'copies'>) => ({ type: 'graft' as const, copies: [...copies] }),
  },
  changeLine: { graft: ({ copies }: Pick<Applied, 'copies'>) => `graft of ${copiedSpans(copies)}` },
} as const
