import { z } from 'zod'
import { agentIdSchema } from '../../ids.ts'
import { effectsShape } from '../../messages.ts'
import { inTurn } from '../../recordShapes.ts'
import { keptJsonSchema } from '../../resultData.ts'

/** A call that a running call makes, such as one of a script. */
const inner = () => ({
  ...inTurn(),
  callId: z.string(),
  /** Key of the call, unique across all agents: that of the one that makes it, with its place. */
  key: z.string(),
  /** Place among the calls that it makes, from 1. */
  n: z.int().positive(),
  name: z.string(),
})

/** Fields of a call as it was asked for. */
const asked = () => ({
  /** Arguments that it ran with, or would have. */
  input: z.unknown(),
  /** Digest of the arguments as they were given: a script that is run again gives the same. */
  print: z.string(),
  /** Epoch milliseconds at which the running call began, as the script that it runs saw them. */
  begun: z.number(),
})

export const innerRecords = {
  'inner.start': () =>
    z.object({
      ...inner(),
      ...asked(),
      type: z.literal('inner.start'),
      /** The rule or the mode by which it runs. */
      rule: z.string().exactOptional(),
      /** Set if the effect of the call cannot be undone. */
      irreversible: z.literal(true).exactOptional(),
      /** The sub-agent that carries it out. */
      childId: agentIdSchema().exactOptional(),
      /** Set if its tool can undo its effect. */
      reversible: z.literal(true).exactOptional(),
    }),
  /** The result of a call as the one that made it was given it. These results are given in the order of their records. */
  'inner.end': () =>
    z.object({
      ...inner(),
      type: z.literal('inner.end'),
      /** Epoch milliseconds that a script sees from here on. */
      at: z.number(),
      /** Fields of one that was never started. */
      asked: z.object(asked()).exactOptional(),
      /** The result as JSON, without secrets; missing for an error. */
      value: z.unknown().exactOptional(),
      /** Set in place of a value that is too large for its record: kept beside the log, with its beginning. */
      apart: keptJsonSchema().exactOptional(),
      /** Set if the call failed: what was said about it. */
      error: z.object({ message: z.string(), code: z.string().exactOptional() }).exactOptional(),
      /** Files and the like that it changed. */
      changed: effectsShape().changed,
      /** Data that the tool kept to undo it with. */
      receipt: effectsShape().receipt,
      /** Data for the application, which the script does not see. */
      data: z.unknown().exactOptional(),
    }),
} as const
