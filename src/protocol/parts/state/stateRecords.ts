import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { onlyFields } from '../../checks/onlyFields.ts'
import { toAgent } from '../../bridge/toAgent.ts'
import { agentIdSchema } from '../../ids.ts'
import { count, inTurn } from '../../recordShapes.ts'
import { mostOps } from './patch.ts'

const pathSchema = lazily(() => z.string().regex(/^(\/|$)/, 'a JSON pointer: it begins with "/", or is empty'))

/** A change at one place of a state, as in RFC 6902. */
export const stateOpSchema = lazily(() =>
  z.discriminatedUnion('op', [
    onlyFields({ op: z.enum(['add', 'replace']), path: pathSchema(), value: z.unknown() }),
    onlyFields({ op: z.literal('remove'), path: pathSchema() }),
  ]),
)

export const statePatchSchema = lazily(() => z.array(stateOpSchema()).min(1).max(mostOps).readonly())

/** The effect of a revert or a graft on the state. */
export const stateMoveSchema = lazily(() =>
  z.object({
    /** The change to the state as a whole, for listeners. */
    patch: z.array(stateOpSchema()).readonly(),
    /** Number of the other branch's changes that the state has again: after a revert, people's changes; after a graft, those of the copied steps. */
    kept: count(),
    /** Changes that no longer fit; `seq` is the `seq` of their record. */
    lost: z.array(z.object({ seq: count(), by: z.string(), patch: z.array(stateOpSchema()).readonly() })).readonly(),
  }),
)
export type StateMove = z.infer<ReturnType<typeof stateMoveSchema>>

export const stateRecords = {
  /** A change to the agent's state. It belongs to the step at the head, or to the step whose calls are running. */
  'state.patched': () =>
    z.object({
      ...inTurn(),
      type: z.literal('state.patched'),
      patch: statePatchSchema(),
      /** Author of the change. `person`: people, or the application for them; `code`: a hook; `child`: a sub-agent that shares its caller's state. */
      by: z.enum(['tool', 'model', 'person', 'code', 'child', 'migration']),
      /** The call that made the change, and the number of this update among those of the call or, with `hook`, of the hook about it. */
      callId: z.string().exactOptional(),
      n: z.int().positive().exactOptional(),
      hook: z.enum(['beforeTool', 'afterTool']).exactOptional(),
      childId: agentIdSchema().exactOptional(),
      /** The state before the change, in the first of these records. */
      initial: z.unknown().exactOptional(),
      /** Id of the command, when it came over a wire. */
      requestId: z.string().exactOptional(),
    }),
} as const

export const stateCommands = {
  'agent.state': () =>
    onlyFields({
      ...toAgent(),
      type: z.literal('agent.state'),
      patch: statePatchSchema(),
      /** Version of the state that the patch was made for. The patch is refused if a place that it touches has changed since. */
      base: count().exactOptional(),
    }),
} as const
