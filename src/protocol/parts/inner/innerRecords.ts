import { z } from 'zod'
import { agentIdSchema } from '../../ids.ts'
import { effectsShape } from '../../messages.ts'
import { inTurn } from '../../recordShapes.ts'
import { keptJsonSchema } from '../../resultData.ts'

/** A call that a running call makes, such as one of a script. */
const inner = () => ({
  ...inTurn(),
  callId: z.string(),
  /** Key of the call, unique across all agents: the outer call's key with this call's position. */
  key: z.string(),
  /** Position among the outer call's calls, from 1. */
  n: z.int().positive(),
  name: z.string(),
})

/** Fields of a call as it was requested. */
const asked = () => ({
  /** Arguments that the call ran with, or would have. */
  input: z.unknown(),
  /** Digest of the arguments as they were given. A script that runs again gives the same. */
  print: z.string(),
  /** Start of the running call in epoch milliseconds, as its script saw the time. */
  begun: z.number(),
})

export const innerRecords = {
  'inner.start': () =>
    z.object({
      ...inner(),
      ...asked(),
      type: z.literal('inner.start'),
      /** The rule or the mode by which the call runs. */
      rule: z.string().exactOptional(),
      /** Set if the effect of the call cannot be undone. */
      irreversible: z.literal(true).exactOptional(),
      /** The sub-agent that carries the call out. */
      childId: agentIdSchema().exactOptional(),
      /** Set if the tool can undo the call's effect. */
      reversible: z.literal(true).exactOptional(),
    }),
  /** The result of a call, as returned to the outer call. Results are returned in the order of these records. */
  'inner.end': () =>
    z.object({
      ...inner(),
      type: z.literal('inner.end'),
      /** Time in epoch milliseconds that a script sees from here on. */
      at: z.number(),
      /** Fields of a call that was never started. */
      asked: z.object(asked()).exactOptional(),
      /** The result as JSON, without secrets; missing for an error. */
      value: z.unknown().exactOptional(),
      /** Set in place of a value that is too large for its record: kept beside the log, with its beginning. */
      apart: keptJsonSchema().exactOptional(),
      /** Set if the call failed: the error as the outer call received it. */
      error: z.object({ message: z.string(), code: z.string().exactOptional() }).exactOptional(),
      /** Files and other things that the call changed. */
      changed: effectsShape().changed,
      /** Data that the tool kept in order to undo the call. */
      receipt: effectsShape().receipt,
      /** Data for the application, which the script does not see. */
      data: z.unknown().exactOptional(),
    }),
} as const
