import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { toAgent } from '../../bridge/toAgent.ts'
import { onlyFields } from '../../checks/onlyFields.ts'
import { economicsSchema } from '../../economics.ts'
import { nodeIdSchema } from '../../ids.ts'
import { usageSchema } from '../../messages.ts'
import { count, inTurn } from '../../recordShapes.ts'
import { asked } from '../asked.ts'

export const compactionRequestSchema = lazily(() =>
  z.object({
    ...asked(),
    /** The content that the summary should keep above all, in words. */
    focus: z.string().exactOptional(),
  }),
)
export type CompactionRequest = z.infer<ReturnType<typeof compactionRequestSchema>>

/** A summary shown to the model in place of the trunk nodes `from`…`to`; the nodes themselves stay where they are. */
export const overlaySchema = lazily(() =>
  z.object({
    /** The summary's own id: it is a step. */
    nodeId: nodeIdSchema(),
    from: nodeIdSchema(),
    to: nodeIdSchema(),
    summary: z.string(),
    /** User messages and pinned steps inside the span, as nodes. They are shown verbatim after the summary. */
    kept: z.array(nodeIdSchema()).readonly(),
    /** The last node of the range after the span in which tool outputs are cut to `maxToolOutputChars`. */
    recentTo: nodeIdSchema(),
    maxToolOutputChars: count(),
    /** Pinned outputs in that range, which are not cut. */
    uncut: z.array(nodeIdSchema()).readonly().exactOptional(),
  }),
)
export type Overlay = z.infer<ReturnType<typeof overlaySchema>>

export const compactionRecords = {
  'compaction.start': () =>
    z.object({
      ...inTurn(),
      type: z.literal('compaction.start'),
      cause: z.enum(['headroom', 'overflow', 'requested']),
      tokens: count(),
      /** The request that this compaction answers. */
      requestId: z.string().exactOptional(),
    }),
  'compaction.end': () =>
    z.object({
      ...inTurn(),
      type: z.literal('compaction.end'),
      applied: z.boolean(),
      /** The request that this answers; there may have been no start. */
      requestId: z.string().exactOptional(),
      /** Reason why it was not applied. */
      reason: z.string().exactOptional(),
      overlay: overlaySchema().exactOptional(),
      tokensBefore: count(),
      tokensAfter: count(),
      usage: usageSchema().exactOptional(),
      costUsd: z.number(),
      economics: economicsSchema().exactOptional(),
    }),
  'compaction.requested': () =>
    z.object({ ...inTurn(), type: z.literal('compaction.requested'), request: compactionRequestSchema() }),
} as const

export const compactionCommands = {
  'agent.compact': () =>
    onlyFields({
      ...toAgent(),
      type: z.literal('agent.compact'),
      /** The content that the summary should keep above all, in words. */
      focus: z.string().min(1).max(4_000).exactOptional(),
    }),
} as const
