import { z } from 'zod'
import { lazily } from './lazily.ts'
import { nodeIdSchema } from './ids.ts'

/** Something that was not undone, and the reason. */
export const keptSchema = lazily(() => z.object({ what: z.string(), why: z.string() }))
export type Kept = z.infer<ReturnType<typeof keptSchema>>

/** Outcome of undoing a span: effects that were reversed, and those that were left. */
export const undoLedgerSchema = lazily(() =>
  z.object({
    undone: z.array(z.string()).readonly(),
    kept: z.array(keptSchema()).readonly(),
  }),
)
export type UndoLedger = z.infer<ReturnType<typeof undoLedgerSchema>>

/** A call to be undone. */
export const undoCallSchema = lazily(() =>
  z.object({
    /** The node of its result. */
    call: nodeIdSchema(),
    /** The thing that the call changed, or the call itself. */
    what: z.string(),
    /** Set if the calls with the same `what` are undone together or not at all. */
    together: z.literal(true).exactOptional(),
  }),
)
export type UndoCall = z.infer<ReturnType<typeof undoCallSchema>>

/** Undo plan of an applied revert: the calls to undo, newest first, and the effects that cannot be undone. */
export const undoPlanSchema = lazily(() =>
  z.object({
    calls: z.array(undoCallSchema()).readonly(),
    kept: z.array(keptSchema()).readonly(),
  }),
)
export type UndoPlan = z.infer<ReturnType<typeof undoPlanSchema>>

export const undoStepSchema = lazily(() =>
  z.object({
    call: nodeIdSchema(),
    undone: z.boolean(),
    why: z.string().exactOptional(),
  }),
)
export type UndoStep = z.infer<ReturnType<typeof undoStepSchema>>
