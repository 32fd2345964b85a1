import type { EventOf } from '../../../../../src/protocol/events.ts'
import { formatNodeId } from '../../../../../src/protocol/text/nodeIds.ts'
import { plainReason, type Narrated, type Telling } from '../telling.ts'

type Requested = EventOf<'graft.requested'>
type Applied = EventOf<'graft.applied'>

const idsOf = (copies: Applied['copies'], which: 'nodeId' | 'from'): string[] =>
  copies.map((copy) => formatNodeId(copy[which]))

const plain = { 'graft.requested': 'brake', 'graft.applied': 'brake' } as const

// Words about grafts, by those who say them. Each is a name of its own, so that a page loads only those it says.

/** Lines of the application's log. They never include content. */
export const log = {
  'graft.requested': ({ request: { by } }: Requested): Narrated => ({
    level: 'debug',
    message: `graft asked for by the ${by}`,
    fields: { by },
  }),
  'graft.applied': ({ applied, copies, reason, economics }: Applied, { counted }: Pick<Telling, 'counted'>): Narrated =>
    applied
      ? {
          level: 'info',
          message: `${counted(copies.length, 'node')} copied from abandoned branches`,
          fields: { copies: idsOf(copies, 'nodeId'), from: idsOf(copies, 'from'), ...economics },
        }
      : { level: 'warn', message: 'graft refused', fields: { reason: plainReason(reason) } },
}

/** Attributes of spans. `hasContent`: they may include message content. */
export const spans = {
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
}

/** The part shown to clients that may not see everything. */
export const visible = {
  'graft.requested': 'withheld',
  'graft.applied': ({ reason: _, economics: __, state: ___, ...event }: Applied) => event,
} as const

/** Fields of the summary in a `useChat` chat. */
export const summary = { 'graft.applied': ({ requested }: Applied) => ({ steps: requested }) }

/** Group of the event in lists. */
export const group = plain

/** Reason that stands in a row of its own. */
export const notice = { 'graft.applied': ({ reason }: Applied): string | undefined => reason }

/** Remark in a chat, with its data. The client has already seen the copied steps at their original place. */
export const chat = {
  'graft.applied': ({ id, copies }: Pick<Applied, 'id' | 'copies'>, { counted }: Pick<Telling, 'counted'>) => ({
    id: `graft-${id}`,
    text: `Brought ${counted(copies.length, 'message')} of an abandoned branch back.`,
    data: { type: 'graft', copies },
  }),
}

/** Fields of an applied graft in a session summary. */
export const change = {
  'graft.applied': ({ copies }: Pick<Applied, 'copies'>) => ({ type: 'graft' as const, copies: [...copies] }),
}
