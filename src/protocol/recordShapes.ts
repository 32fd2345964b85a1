import { z } from 'zod'
import { nodeIdSchema } from './ids.ts'
import { lazily } from './lazily.ts'

/** Version of the record format: raised when a reader of the old one would misread the new. A log of a newer one is refused. */
export const recordVersion = 3

export const count = lazily(() => z.int().nonnegative())

/** Fields of every record. */
export const base = lazily(() => ({
  v: z.literal(recordVersion),
  /** 1, 2, 3 … per agent, without gaps. */
  seq: z.int().positive(),
  /** Milliseconds since the Unix epoch. */
  time: z.number(),
  /** Set if the record came with a file of another party: a past that is read, and nothing that is open in it goes on. */
  foreign: z.literal(true).exactOptional(),
}))
/** The run and turn under way, or the next ones in between; `turnIndex` counts from 0 over the agent's life, across runs. */
export const inTurn = lazily(() => ({ ...base(), runId: z.string(), turnIndex: count() }))
export const placed = lazily(() => ({ nodeId: nodeIdSchema(), parentId: nodeIdSchema().nullable() }))
