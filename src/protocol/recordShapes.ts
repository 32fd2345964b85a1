import { z } from 'zod'
import { nodeIdSchema } from './ids.ts'
import { lazily } from './lazily.ts'

/** Version of the record format. It rises when a reader of the old format would misread the new one. Logs of newer versions are refused. */
export const recordVersion = 3

export const count = lazily(() => z.int().nonnegative())

/** Fields of every record. */
export const base = lazily(() => ({
  v: z.literal(recordVersion),
  /** 1, 2, 3 … per agent, without gaps. */
  seq: z.int().positive(),
  /** Milliseconds since the Unix epoch. */
  time: z.number(),
  /** Set if the record came from another party's file. Such records are history: anything still open in them does not continue. */
  foreign: z.literal(true).exactOptional(),
}))
/** Fields of a record in a run: the current run and turn, or the next ones if none is active. `turnIndex` counts from 0 across the agent's runs. */
export const inTurn = lazily(() => ({ ...base(), runId: z.string(), turnIndex: count() }))
export const placed = lazily(() => ({ nodeId: nodeIdSchema(), parentId: nodeIdSchema().nullable() }))
